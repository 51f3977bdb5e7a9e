import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'

const SOURCES = ['package.json', 'tsconfig.json', 'src', 'gen', 'packages', 'scripts']
const BUILT = /(^|\/)(dist|node_modules)$/

/**
 * Copies the sources into a temporary folder, as a clone has them after `npm ci`: no package is built. The folder is removed after
 * the test.
 * @returns the folder
 */
export function cloneSources(): string {
  const folder = mkdtempSync(join(tmpdir(), 'clone-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const path of SOURCES)
    cpSync(path, join(folder, path), { recursive: true, filter: (source) => !BUILT.test(source) })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return folder
}
