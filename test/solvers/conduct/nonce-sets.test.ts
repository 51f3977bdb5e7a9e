import { expect, test } from 'vitest'
import { createNonceSets } from '../../../src/solvers/conduct/nonce-sets.js'

test('each solver of each chain has its newest nonces, and takes no place of another', () => {
  const { has, set, replace } = createNonceSets(2)
  const key = (chainId: number, address: `0x${string}`) => ({ chainId, address })
  const known = (of: ReturnType<typeof key>) => [1n, 2n, 3n, 4n].filter((nonce) => has(of, nonce))
  set(key(1, '0x0b'), 1n, true)
  set(key(2, '0x0a'), 1n, true)
  for (const nonce of [1n, 2n, 1n, 3n]) set(key(1, '0x0a'), nonce, true)
  expect(known(key(1, '0x0a'))).toEqual([1n, 3n])
  set(key(1, '0x0a'), 3n, false)
  expect([key(1, '0x0a'), key(1, '0x0b'), key(2, '0x0a')].map(known)).toEqual([[1n], [1n], [1n]])
  replace(1, new Map([['0x0a', [3n, 4n]]]))
  set(key(1, '0x0a'), 1n, true)
  expect([key(1, '0x0a'), key(1, '0x0b'), key(2, '0x0a')].map(known)).toEqual([[1n, 4n], [], [1n]])
})
