import { expect, it } from 'vitest'
import { only } from '../../../../test/support/only.js'
import { createCancellations } from '../../src/ending/cancellations.js'

it('a cancellation that fails while nothing can be written is wanted again at the next block', async () => {
  const errors: string[] = []
  const nonce = 7n
  const entry = { quote: { nonce }, isCancelling: false }
  let kept = 0
  const full = () => {
    throw new Error('the disk is full')
  }
  const fail = async () => {
    throw new Error('the node is down')
  }
  const parts = {
    chain: { chainId: 1, maxPayments: 16, hasWords: false, maxCancelFees: 1n },
    time: { passed: () => 0 },
    // What it may cost is kept before it is sent.
    state: { position: () => undefined, setPosition: () => void (kept++ > 0 && full()) },
    ledger: {
      holdings: () => undefined,
      get: () => entry,
      bondOf: () => 0n,
      setCancelling(_entries: unknown, isCancelling: boolean) {
        entry.isCancelling = isCancelling
      },
    },
    payments: { send: fail, isUnderWay: () => false },
    onError: (error: Error) => errors.push(error.message),
    signal: new AbortController().signal,
  }
  const cancellations = createCancellations(
    only(parts),
    () => [],
    () => {},
  )
  cancellations.start([only(entry)])
  expect(entry.isCancelling).toBe(true)
  await cancellations.idle()
  expect([entry.isCancelling, errors]).toEqual([false, ['the node is down', 'the disk is full']])
})
