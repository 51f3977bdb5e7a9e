import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'

const SOURCES = ['package.json', 'tsconfig.json', 'src', 'gen', 'packages', 'scripts']
const LEFT_OUT = /(^|\/)(dist|node_modules|test)$/

/** Copies the sources into a folder, as a clone has them after `npm ci`: no package is built. The installed packages are lent. */
export function copySources(folder: string): void {
  for (const path of SOURCES)
    cpSync(path, join(folder, path), { recursive: true, filter: (source) => !LEFT_OUT.test(source) })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
}

/** Copies the sources into a temporary folder, which is removed after the test. @returns the folder */
export function cloneSources(): string {
  const folder = mkdtempSync(join(tmpdir(), 'clone-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  copySources(folder)
  return folder
}
