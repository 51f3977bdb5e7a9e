import type { Address } from 'viem'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type DepositError, type Outcome, untilThere } from '../../src/deposits/deposit-outcome.js'
import { planBatch } from '../../src/deposits/wallet-batch.js'
import { ADDRESS } from '../samples.js'

const CHAIN_ID = 31337

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('the chain is looked at', () => {
  /** Waits for what the looks at the chain find, one after the other. The last one is found again. */
  async function waitFor(finds: readonly boolean[], outcome: Outcome, isTooLate: boolean) {
    const looks = [...finds]
    const waiting = untilThere({
      readOutcome: async () => outcome,
      isThere: async () => (looks.length > 1 ? looks.shift() : looks[0]) ?? false,
      isTooLate: async () => isTooLate,
      until: Number.POSITIVE_INFINITY,
      pollMs: 1000,
      signal: undefined,
    }).then(
      () => 'there',
      ({ reason }: DepositError) => reason,
    )
    await vi.runAllTimersAsync()
    return waiting
  }

  it.each([
    ['REVERTED', 'failed', false],
    ['REPLACED', 'replaced', false],
    ['EXPIRED', 'pending', true],
  ] as const)(
    'three times before a deposit is %s, because nodes differ by a block',
    async (reason, outcome, isTooLate) => {
      // What the wallet or the node says of the transaction comes after the first look.
      expect(await waitFor([false, false, true], outcome, isTooLate)).toBe('there')
      expect(await waitFor([false], outcome, isTooLate)).toBe(reason)
    },
  )
})

describe('a wallet gets no batch', () => {
  const batch = {
    from: ADDRESS,
    chainId: CHAIN_ID,
    calls: [] as { to: Address; data: '0x'; value: bigint }[],
  }

  it('when it has not said within 5 seconds what it can do', async () => {
    const asked = vi.fn(() => new Promise<never>(() => {}))
    const planned = planBatch(asked, batch)
    await vi.advanceTimersByTimeAsync(5000)
    expect(await planned).toBeUndefined()
    expect(asked).toHaveBeenCalledTimes(1)
  })
})
