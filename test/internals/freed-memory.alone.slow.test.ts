import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const MODULE = new URL('../../src/internals/freed-memory.ts', import.meta.url).href
const isGlibc = existsSync('/lib64/ld-linux-x86-64.so.2') || existsSync('/lib/ld-linux-aarch64.so.1')

/** Fills and frees 100 blocks of 1 MB between smaller ones that stay, and prints what the process keeps of them in MB. */
const CHURN = `
  import { createRequire } from 'node:module'
  const koffi = createRequire('${MODULE}')('koffi')
  const library = koffi.load('libc.so.6')
  const malloc = library.func('void *malloc(size_t)')
  const fill = library.func('void *memset(void *, int, size_t)')
  const free = library.func('void free(void *)')
  const SIZE = 1_000_000
  // Too large for the holes that there are already, so that each one lies between two blocks.
  const PIN = 50_000
  free(malloc(2 * SIZE))
  const before = process.memoryUsage.rss()
  const blocks = []
  for (let block = 0; block < 100; block++) {
    blocks.push(fill(malloc(SIZE), 1, SIZE))
    fill(malloc(PIN), 1, PIN)
  }
  for (const block of blocks) free(block)
  process.stdout.write(String((process.memoryUsage.rss() - before) / 1e6))
`

async function keptMegabytes(before: string): Promise<number> {
  const args = ['--import', 'tsx', '--input-type=module', '--eval', `${before}\n${CHURN}`]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number(stdout)
}

test.runIf(isGlibc)('freed blocks go back to the system, which they do not by default', async () => {
  expect(await keptMegabytes('')).toBeGreaterThan(80)
  const returned = await keptMegabytes(`import { returnFreedMemory } from '${MODULE}'\nreturnFreedMemory()`)
  expect(returned).toBeLessThan(20)
})
