import { keccak256 as viemKeccak256 } from 'viem'
import { expect, test, vi } from 'vitest'
import { createRandom } from '../../../../test/support/random.js'
import { keccak256, usesWebAssembly } from '../../src/signing/typed-data.js'

const RATE_BYTES = 136

await usesWebAssembly

function hex(data: Uint8Array): string {
  return Buffer.from(data).toString('hex')
}

test.each([
  ['nothing', '', 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
  ['abc', 'abc', '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
])('keccak256 of %s is the published hash', (_what, text, hash) => {
  expect(hex(keccak256(Buffer.from(text)))).toBe(hash)
})

test('keccak256 gives the same hash before its WebAssembly is compiled', async () => {
  vi.resetModules()
  const fresh = await import('../../src/signing/typed-data.js')
  const whenCompiled = fresh.usesWebAssembly.then(() => 'compiled')
  const before = hex(fresh.keccak256(Buffer.from('abc')))
  expect(await Promise.race([whenCompiled, 'not yet'])).toBe('not yet')
  await whenCompiled
  expect(hex(fresh.keccak256(Buffer.from('abc')))).toBe(before)
  expect(before).toBe(hex(keccak256(Buffer.from('abc'))))
})

test('keccak256 agrees with viem at every length around one and two blocks', () => {
  const random = createRandom(1)
  for (let length = 0; length <= 2 * RATE_BYTES + 2; length++) {
    const data = random.bytes(length)
    expect(hex(keccak256(data)), `${length} bytes`).toBe(viemKeccak256(data).slice(2))
  }
})
