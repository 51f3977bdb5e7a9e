import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RULES } from '../support/chain/chain.js'
import { Revert } from './journal.js'
import type { KnownQuote } from './known-quotes.js'
import { startLyingInstance } from './lying-instance.js'
import { startRunning } from './running-solver.js'
import { OrderState } from './settlement-state.js'
import { BOND, SOLVER, settlementCall } from './world.js'

const CANCEL = settlementCall('cancelNonce', [0n]).slice(0, 10)

beforeEach(() => {
  vi.stubGlobal('fetch', async () => Response.json({ status: 'registered', address: SOLVER }))
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

it.each(['fill', 'settle'])(
  'a payment by `%s` that reverts only in blocks is sent a few times, and its quote costs no more than it must',
  async (call) => {
    const { ask, deposit, transfer, refund, passBlocks, contracts, chain, bond, errors, end } =
      await startRunning('reference')
    const known = (await ask(1_000n, { fillSeconds: 600 })) as KnownQuote
    const { transact } = contracts
    vi.spyOn(contracts, 'transact').mockImplementation((context, to, data) => {
      if (context.sender === SOLVER && !data.startsWith(CANCEL)) throw new Revert('')
      return transact(context, to, data)
    })
    if (call === 'fill') deposit(known)
    else transfer(known)
    const before = chain.countOf(SOLVER)
    while (chain.head().timestamp < known.quote.fillDeadline) await passBlocks(1)
    // The last one cancels the quote.
    expect(chain.countOf(SOLVER) - before).toBe(call === 'fill' ? 5 : 6)
    expect(errors().filter((error) => error.includes('is not sent any more'))).toHaveLength(1)
    refund(call === 'fill' ? 'refund' : 'refundAddressDeposit', known)
    await passBlocks(2)
    expect(bond() === BOND).toBe(call === 'settle')
    end()
  },
)

it.each(RULES)(
  'a deposit that a reorganisation removes is ended in time on the %s contract',
  async (rules) => {
    const instance = await startLyingInstance()
    const running = await startRunning(rules, {}, {}, instance)
    const { ask, passBlocks, contracts, chain, isUnused, solver, end } = running
    const known = (await ask(1_000n, { depositSeconds: 30 })) as KnownQuote
    const { settlement } = contracts
    const { order } = settlement
    const { orderId, quote } = known
    const removed = { ...order(orderId), ...quote, state: OrderState.DEPOSITED } as ReturnType<typeof order>
    const seen = vi
      .spyOn(settlement, 'order')
      .mockImplementation((id) => (id === orderId ? removed : order(id)))
    await instance.report(orderId, quote.fillDeadline)
    await passBlocks(1)
    expect(solver.metrics().deposits).toBe(1)
    seen.mockRestore()
    while (chain.head().timestamp < quote.fillDeadline) await passBlocks(1)
    expect(isUnused(known)).toBe(false)
    end()
    instance.close()
  },
)
