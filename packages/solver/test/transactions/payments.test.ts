import { expect, it } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { only } from '../../../../test/support/only.js'
import { createMetrics } from '../../src/monitoring.js'
import { openState, type SignedTransaction } from '../../src/state.js'
import { createPayments } from '../../src/transactions/payments.js'
import type { TransactionSender } from '../../src/transactions/transaction-sender.js'

const RAISE_MS = 15_000

it('a payment is raised as far as its caller allows, reported after that, and sent again as it is', async () => {
  const clock = createManualClock(0)
  const state = openState(':memory:')
  const closing = new AbortController()
  const errors: unknown[] = []
  const reported = new Set<string>()
  const offered: string[] = []
  const attempt = (count: number): SignedTransaction => ({ hash: `0x${count}`, raw: `0x${count}`, nonce: 0 })
  const sender: TransactionSender = {
    async send(_call, keep) {
      keep(attempt(1))
      return { offer: attempt(1), refusal: undefined }
    },
    async offer(offer) {
      offered.push(offer.hash)
      return { offer, refusal: undefined }
    },
    raise: async ({ hash }) => attempt(Number(hash) + 1),
    isTooCheap: async () => false,
    progress: async () => ({ state: 'NEXT', used: 0 }),
    usedNonces: async () => ({ now: 0, deep: 0 }),
  }
  const parts = only<Parameters<typeof createPayments>[0]>({
    chain: { chainId: 1, pollIntervalMs: 1_000, raiseFeesAfterMs: RAISE_MS },
    clock,
    // A block each second.
    time: { passed: () => clock.monotonic() },
    state,
    log: { ...console, info() {} },
    metrics: createMetrics(),
    books: { mined() {} },
    onError: (error: unknown) => errors.push(error),
    report: (_reason: string, error: unknown) => void reported.add(String(error)),
    signal: closing.signal,
  })
  const payments = createPayments(parts, sender)
  const allow = ({ hash }: SignedTransaction) => Number(hash) <= 2
  await payments.send('one', only({ address: '0x' }), allow)
  const followed = payments.follow('one', undefined, allow)
  for (let second = 0; second < (4 * RAISE_MS) / 1_000; second++) await clock.advance(1_000)
  expect(state.attempts('one').map(({ hash }) => hash)).toEqual(['0x1', '0x2'])
  expect(offered.slice(0, 3)).toEqual(['0x2', '0x2', '0x2'])
  expect([...reported]).toEqual([expect.stringContaining('highest fees that are allowed')])
  expect(errors).toEqual([])
  closing.abort()
  expect(await followed).toBeUndefined()
})
