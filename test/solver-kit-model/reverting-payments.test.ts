import { afterEach, expect, it, vi } from 'vitest'
import { Revert } from '../support/model-chain/journal.js'
import { startRunning } from './running-solver.js'
import { BOND, SOLVER, settlementCall } from './world.js'

const CANCEL = settlementCall('cancelNonce', [0n]).slice(0, 10)

afterEach(() => void vi.restoreAllMocks())

it.each(['fill', 'settle'])(
  'a payment by `%s` that reverts only in blocks is sent a few times, and its quote costs no more than it must',
  async (call) => {
    const { quoteFor, deposit, transfer, refund, passBlocks, contracts, chain, bond, errors } =
      await startRunning()
    const known = await quoteFor(1_000n, { fillSeconds: 600 })
    const { transact } = contracts
    vi.spyOn(contracts, 'transact').mockImplementation((context, to, data) => {
      if (context.sender === SOLVER && !data.startsWith(CANCEL)) throw new Revert('')
      return transact(context, to, data)
    })
    if (call === 'fill') deposit(known)
    else transfer(known)
    const before = chain.countOf(SOLVER)
    while (chain.head().timestamp < known.quote.fillDeadline) await passBlocks(1, 6)
    // The last one cancels the quote.
    expect(chain.countOf(SOLVER) - before).toBe(call === 'fill' ? 5 : 6)
    expect(errors().filter((error) => error.includes('is not sent any more'))).toHaveLength(1)
    refund(call === 'fill' ? 'refund' : 'refundAddressDeposit', known)
    await passBlocks(2)
    expect(bond() === BOND).toBe(call === 'settle')
  },
)
