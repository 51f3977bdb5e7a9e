import { execFile } from 'node:child_process'
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** What a change of the console's build comes from. */
const SOURCES = ['../../../packages/console', '../../../packages/client/src', '../../../gen/aggregator']
const BUILT_FOLDERS = /(^|\/)(dist|node_modules)(\/|$)/

/**
 * Builds the console for a service that runs from its sources, when it is not built or older than its sources. The built service
 * brings its console.
 * @param onBuild called before a build, which takes some seconds
 * @param signal ends a build
 * @throws Error with what Vite reports
 */
export async function buildConsole(onBuild: () => void, signal?: AbortSignal): Promise<void> {
  if (!import.meta.url.endsWith('.ts')) return
  const [folder = '', ...others] = SOURCES.map((path) => fileURLToPath(new URL(path, import.meta.url)))
  const builtAt = statSync(join(folder, 'dist/index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if ([folder, ...others].every((source) => newestChange(source) < builtAt)) return
  onBuild()
  const vite = dirname(createRequire(import.meta.url).resolve('vite/package.json'))
  // A build of its own that then takes the place of the old one: another process may build or read at the same time.
  const target = join(folder, `node_modules/.console-${process.pid}`)
  const command = [
    join(vite, 'bin/vite.js'),
    'build',
    '--logLevel',
    'warn',
    '--outDir',
    target,
    '--emptyOutDir',
  ]
  try {
    await promisify(execFile)(process.execPath, command, { cwd: folder, signal })
    replaceFolder(join(folder, 'dist'), target)
  } finally {
    rmSync(target, { recursive: true, force: true })
  }
}

/** Another process may have put an equal build there in between. */
function replaceFolder(folder: string, by: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
    renameSync(by, folder)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** @returns Unix time in milliseconds */
function newestChange(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true, encoding: 'utf8' })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const sources = files.filter((path) => !BUILT_FOLDERS.test(path.slice(folder.length)))
  return Math.max(...sources.map((path) => statSync(path).mtimeMs))
}
