import { expect, test } from 'vitest'
import type { Address } from '../../../src/domain/values/hex.js'
import { createOnNonceRefused } from '../../../src/quoting/round/refused-nonces.js'
import { deferred } from '../../support/deferred.js'

const SOLVER: Address = '0x0a'

/** The function for a chain whose contract knows nonces below 10 as used, once the test lets it answer. */
function open() {
  const { opened, open } = deferred()
  const reads: bigint[] = []
  const used: bigint[] = []
  const isNonceUsed = async (_solver: Address, nonce: bigint) => {
    reads.push(nonce)
    await opened
    if (nonce === 5n) throw new Error('the node is down')
    return nonce < 10n
  }
  const onNonceRefused = createOnNonceRefused({
    chains: new Map([[1, { isNonceUsed }]]),
    usedNonces: {
      isUsed: (_key, nonce) => nonce === 1n,
      setUsed: (_key, nonces) => void used.push(...nonces),
    },
  })
  const refuse = (...nonces: bigint[]) => {
    for (const nonce of nonces) onNonceRefused(1, { solver: SOLVER, nonce })
  }
  return { refuse, reads, used, answer: open }
}

test('a refused nonce is used only when the contract itself says so, as a token can return any error', async () => {
  const { refuse, used, answer } = open()
  refuse(2n, 5n, 10n)
  answer()
  await expect.poll(() => used).toEqual([2n])
})

test('a nonce is read once at a time, not when it is known, and not beside too many others', () => {
  const { refuse, reads } = open()
  refuse(1n, 2n, 2n)
  expect(reads).toEqual([2n])
  for (let nonce = 100n; nonce < 200n; nonce++) refuse(nonce)
  expect(reads).toHaveLength(20)
})
