import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { TEST_HANG_MS } from '../hang.js'
import { BUILT } from '../process/built.js'
import { copySources } from './clone.js'

export const INSTALL_MS = TEST_HANG_MS

/**
 * Packs a copy of a package into `folder` as its README says, since packing builds what other tests may be using. A run packs it once.
 * @returns the tarball's path
 */
export async function packPackage(name: 'client' | 'solver', folder: string): Promise<string> {
  const tarball = join(folder, `${name}.tgz`)
  const kept = join(BUILT, `${name}.tgz`)
  if (existsSync(kept)) {
    await copyFile(kept, tarball)
    return tarball
  }
  const cwd = join(folder, 'copy')
  copySources(cwd)
  const command = ['pack', '--workspace', `@quote-aggregator/${name}`, '--pack-destination', folder]
  await promisify(execFile)('npm', command, { cwd, timeout: INSTALL_MS })
  const packed = (await readdir(folder)).find((entry) => entry.endsWith('.tgz'))
  if (packed === undefined) throw new Error('nothing was packed')
  await rename(join(folder, packed), tarball)
  // Another file of tests may read it at the same time.
  await copyFile(tarball, `${kept}-${process.pid}`)
  await rename(`${kept}-${process.pid}`, kept)
  return tarball
}
