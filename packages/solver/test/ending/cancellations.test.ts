import { expect, it } from 'vitest'
import { createCancellations } from '../../src/ending/cancellations.js'

it('a cancellation that fails while nothing can be written is wanted again at the next block', async () => {
  const errors: string[] = []
  const nonce = 7n
  const fail = async () => {
    throw new Error('the node is down')
  }
  const parts = {
    chain: { chainId: 1, maxPayments: 16, hasWords: false },
    ledger: { holdings: () => undefined, get: () => undefined },
    payments: { send: fail, isUnderWay: () => false },
    onError: (error: Error) => errors.push(error.message),
    signal: new AbortController().signal,
  }
  const charge = () => {
    throw new Error('the disk is full')
  }
  const budget = { reserve: () => true, charge }
  const cancellations = createCancellations(
    parts as never,
    budget as never,
    () => [],
    () => {},
  )
  cancellations.start([{ nonce } as never])
  expect(cancellations.has(nonce)).toBe(true)
  await cancellations.idle()
  expect([cancellations.has(nonce), errors]).toEqual([false, ['the node is down', 'the disk is full']])
})
