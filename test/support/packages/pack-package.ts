import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, symlink } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'

export const INSTALL_MS = 100_000

/** What is not copied to be packed; the installed packages are lent. */
const LEFT_OUT = ['.git', '.bench', 'coverage', 'dist', 'node_modules', 'test']
const isSource = (path: string) => !LEFT_OUT.includes(basename(path))

/**
 * Packs a copy of a package into `folder`, since packing builds what other tests may be using.
 * @returns the tarball's path
 */
export async function packPackage(name: 'client' | 'solver', folder: string): Promise<string> {
  const copy = join(folder, 'copy')
  await mkdir(copy)
  for (const entry of await readdir('.')) {
    if (isSource(entry)) await cp(entry, join(copy, entry), { recursive: true, filter: isSource })
  }
  await symlink(resolve('node_modules'), join(copy, 'node_modules'))
  const options = { cwd: join(copy, 'packages', name), timeout: INSTALL_MS }
  await promisify(execFile)('npm', ['pack', '--pack-destination', folder], options)
  const tarball = (await readdir(folder)).find((entry) => entry.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('nothing was packed')
  return join(folder, tarball)
}
