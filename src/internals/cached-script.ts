import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/** The checksums of the script and of the compiled code, 4 bytes each, before the code. */
const HEAD_BYTES = 8

const cacheOf = (path: string) => path.replace(/\.js$/, '.cache')

/**
 * Loads a script in ASCII, with the code that `cacheCode` has kept next to it. V8 takes only code of its own version, under the
 * same V8 flags, and otherwise compiles the script. Of the source it compares only the length, so the file has its checksum.
 * In Node 20, stack traces name the path at which the code was kept, so the checksum includes the path. Node 20 has this for
 * scripts, and not for modules. V8 documents none of its conditions. Checked with Node 20.20.
 */
export function loadScript(path: string): Script {
  const source = readFileSync(path)
  return new Script(source.toString('latin1'), { filename: path, cachedData: readCode(path, source) })
}

/** Keeps the code that V8 has compiled for a script until now. */
export function cacheCode(path: string, script: Script): void {
  const code = script.createCachedData()
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(checksumOf(path, readFileSync(path)))
  head.writeUInt32LE(crc32(code), 4)
  writeFileSync(cacheOf(path), Buffer.concat([head, code]))
}

function readCode(path: string, source: Buffer): Buffer | undefined {
  const bytes = readIfPossible(cacheOf(path))
  if (bytes.length < HEAD_BYTES || bytes.readUInt32LE() !== checksumOf(path, source)) return undefined
  const code = bytes.subarray(HEAD_BYTES)
  return bytes.readUInt32LE(4) === crc32(code) ? code : undefined
}

const checksumOf = (path: string, source: Buffer) => crc32(source, crc32(resolve(path)))

/** A file that is missing, or that this process may not read, is like an empty one. */
function readIfPossible(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}
