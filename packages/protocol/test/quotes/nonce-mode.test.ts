import { expect, it } from 'vitest'
import { modeOfNonce, nonceWithMode } from '../../src/quotes/nonce-mode.js'

const REST = 2n ** 128n - 1n

it('a nonce says in bits 128 to 159 which deposit mode its solver was told', () => {
  expect(nonceWithMode('CONTRACT', REST)).toBe(0x71610001_ffffffffffffffffffffffffffffffffn)
  expect(nonceWithMode('ADDRESS', 0n)).toBe(0x71610002_00000000000000000000000000000000n)
  for (const mode of ['CONTRACT', 'ADDRESS'] as const)
    expect(modeOfNonce(nonceWithMode(mode, REST))).toBe(mode)
})

it.each([0n, REST, 0x71610003n << 128n, 1n << 160n, 2n ** 256n - 1n])(
  'the nonce %s says no mode',
  (nonce) => {
    expect(modeOfNonce(nonce)).toBeUndefined()
  },
)

it('bits above the mark are not part of it', () => {
  expect(modeOfNonce(nonceWithMode('ADDRESS', 5n) | (7n << 160n))).toBe('ADDRESS')
})
