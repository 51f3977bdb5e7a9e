import { readFile, rename, writeFile } from 'node:fs/promises'
import { badInput } from '../command-failure.js'

/** Where forwarding begins without a state file. */
export type Beginning = 'now' | 'beginning' | undefined

/**
 * Reads the cursor that a state file has.
 * @returns without a file, `earliest` for the beginning, and undefined for new events
 * @throws CommandFailure when it cannot be read, or nothing says where to begin
 */
export async function readPlace(path: string, from: Beginning): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && from) return from === 'now' ? undefined : 'earliest'
    const message = `--state ${path} cannot be read (${code}). A first start needs --from.`
    throw badInput(message)
  }
}

/** Writes the state file as a whole, so that a crash leaves the old one or the new one. */
export async function writePlace(path: string, cursor: string): Promise<void> {
  await writeFile(`${path}.new`, cursor, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
}
