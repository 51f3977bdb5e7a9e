import { createClient, custom } from 'viem'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { only } from '../../../../test/support/only.js'
import { type DepositError, type Outcome, untilThere } from '../../src/deposits/deposit-outcome.js'
import { planBatch, readBatch } from '../../src/deposits/wallet-batch.js'
import type { DepositWallet } from '../../src/deposits/wallet-transaction.js'
import { ADDRESS } from '../samples.js'

const CHAIN_ID = 31337

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('the chain is looked at', () => {
  /** Waits for what the looks at the chain find, one after the other. The last one is found again. @returns it, and after how long */
  async function waitFor(
    finds: readonly ('there' | Outcome)[],
    readOutcome: () => Promise<Outcome> = async () => undefined,
    until = Number.POSITIVE_INFINITY,
  ) {
    const looks = [...finds]
    const start = Date.now()
    const waiting = untilThere({
      readOutcome,
      look: async () => (looks.length > 1 ? looks.shift() : looks[0]),
      until,
      pollMs: 1000,
      signal: new AbortController().signal,
    }).then(
      () => 'there',
      ({ reason }: DepositError) => reason,
    )
    const ended = waiting.then((end) => [end, (Date.now() - start) / 1000])
    await vi.runAllTimersAsync()
    return ended
  }

  it.each([
    ['REVERTED by the receipt', ['REVERTED', 2]],
    ['REPLACED after a minute', ['REPLACED', 61]],
    ['UNCERTAIN after a minute, when the wallet says that its batch has failed', ['UNCERTAIN', 61]],
    ['APPROVAL_TOO_LOW after half a minute', ['APPROVAL_TOO_LOW', 31]],
  ] as const)('before a deposit is %s', async (_, [reason, seconds]) => {
    const read = async () => reason
    // Also long after the deadline.
    expect((await waitFor([undefined], read, 0))[0]).toBe(reason)
    const [, took] = await waitFor([undefined], read)
    expect(took).toBeGreaterThanOrEqual(seconds - 1)
    expect(took).toBeLessThanOrEqual(seconds + 1)
    // Nodes differ, and lag.
    const late = Array.from({ length: seconds - 1 }, () => undefined)
    expect((await waitFor([...late, 'there'], read))[0]).toBe('there')
  })

  it.each([
    ['fails', () => Promise.reject(new Error('busy'))],
    ['never ends', () => new Promise<never>(() => {})],
  ])('for as long as a reading that has said REPLACED once %s', async (_, later) => {
    let readings = 0
    const read = async () => (readings++ === 0 ? ('REPLACED' as const) : later())
    const late = Array.from({ length: 120 }, () => undefined)
    expect((await waitFor([...late, 'there'], read))[0]).toBe('there')
  })

  it('three times before the chain itself says that it is too late', async () => {
    expect(await waitFor(['EXPIRED', 'EXPIRED', 'there'])).toEqual(['there', 2])
    expect(await waitFor(['EXPIRED', undefined, 'EXPIRED'])).toEqual(['EXPIRED', 4])
  })
})

describe('a wallet gets no batch', () => {
  it('when it has not said within 5 seconds what it can do', async () => {
    const asked = vi.fn(() => new Promise<never>(() => {}))
    const wallet = only<DepositWallet>({ account: { address: ADDRESS }, request: asked })
    const planned = planBatch(wallet, CHAIN_ID, [])
    await vi.advanceTimersByTimeAsync(5000)
    expect(await planned).toBeUndefined()
    expect(asked).toHaveBeenCalledTimes(1)
  })
})

describe('of a batch, the status of the wallet is a hint', () => {
  const receipts = [{ transactionHash: `0x${'ab'.repeat(32)}`, status: '0x0' }]
  it.each<[status: unknown, mined: '0x0' | '0x1' | undefined, outcome: Outcome]>([
    [{ status: 100, receipts }, '0x0', undefined],
    [{ status: 200, receipts }, '0x0', 'REVERTED'],
    [{ status: 'CONFIRMED', receipts }, '0x0', 'REVERTED'],
    [{ status: 500, receipts }, '0x1', 'UNCERTAIN'],
    [{ status: 500, receipts }, undefined, 'UNCERTAIN'],
    [{ status: 'CONFIRMED', receipts }, undefined, undefined],
    [{ status: 500, receipts: [] }, undefined, 'UNCERTAIN'],
    [{ status: 600, receipts: null }, undefined, 'UNCERTAIN'],
    [{ status: '500', receipts: [{}] }, undefined, 'UNCERTAIN'],
    [{ status: 400 }, undefined, 'UNCERTAIN'],
    [null, undefined, undefined],
    ['failed', undefined, undefined],
  ])('%j, where the receipt of the node has the status %s: %s', async (status, mined, outcome) => {
    const client = createClient({
      transport: custom({
        request: async ({ method }) =>
          method === 'eth_getTransactionReceipt'
            ? mined && { status: mined }
            : { from: ADDRESS, nonce: '0x0' },
      }),
    })
    expect(await readBatch(async () => status, { client, isOwn: () => true }, 'batch 0')).toBe(outcome)
  })
})
