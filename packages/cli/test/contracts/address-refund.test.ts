import { afterEach, describe, expect, it } from 'vitest'
import { eventsOf, revertOf } from '../../../../test/support/chain/contract-calls.js'
import {
  anyone,
  BOND,
  type Fixture,
  INPUT_AMOUNT,
  OUTPUT_AMOUNT,
  RESERVE,
  solver,
  startSettlement,
  user,
} from '../../../../test/support/chain/settlement.js'
import { OrderState } from '../../../../test/support/chain/signed-quote.js'
import { shared } from '../../../../test/support/shared.js'

const UNSTAKE_DELAY = 7 * 24 * 3600

type Taken = Awaited<ReturnType<Fixture['fundedQuote']>>

const chain = await shared(startSettlement())

afterEach(() => chain.reset())

/** Calls `refundAddressDeposit` after the fill deadline. Returns the transfers and the events. */
async function refundLate({ quote, signature }: Taken) {
  await chain.nextBlockAt(quote.fillDeadline + 1)
  return refundNow({ quote, signature })
}

async function refundNow({ quote, signature }: Pick<Taken, 'quote' | 'signature'>) {
  let events: ReturnType<typeof eventsOf> = []
  const changes = await chain.balanceChanges(async () => {
    events = eventsOf(await chain.send(anyone, 'refundAddressDeposit', [quote, signature]))
  })
  return { changes, events }
}

const refunded = ({ orderId }: Taken, inputAmount: bigint, bondSlashed: bigint) => [
  { eventName: 'Refunded', args: { orderId, user: user.address, inputAmount, bondSlashed } },
]

describe('refundAddressDeposit', () => {
  it('gives the user the tokens and 5% of the output from the bond, for any caller', async () => {
    const taken = await chain.fundedQuote()
    const { changes, events } = await refundLate(taken)
    expect(events).toEqual(refunded(taken, INPUT_AMOUNT, RESERVE))
    expect(changes).toEqual({
      'user weth': INPUT_AMOUNT,
      'settlement bond': -RESERVE,
      'user bond': RESERVE,
    })
    expect(await chain.view.solvers([solver.address])).toEqual([BOND - RESERVE, 0n, 0n, 0, true])
    expect(await chain.view.isNonceUsed([solver.address, taken.quote.nonce])).toBe(true)
    expect(await chain.view.orders([taken.orderId])).toEqual([
      user.address,
      solver.address,
      chain.contracts.weth,
      INPUT_AMOUNT,
      chain.contracts.usdc,
      OUTPUT_AMOUNT,
      BigInt(chain.chainId),
      taken.quote.fillDeadline,
      OrderState.REFUNDED,
    ])
  })

  it('reverts while the quote can still be settled', async () => {
    const { quote, signature } = await chain.fundedQuote()
    await chain.nextBlockAt(quote.fillDeadline)
    expect(await revertOf(chain.send(user, 'refundAddressDeposit', [quote, signature]))).toEqual([
      'FillDeadlineNotPassed',
      quote.fillDeadline,
    ])
  })

  it('reverts when nothing is at the deposit address', async () => {
    const { quote, signature, orderId } = await chain.signedQuote()
    await chain.nextBlockAt(quote.fillDeadline + 1)
    expect(await revertOf(chain.send(user, 'refundAddressDeposit', [quote, signature]))).toEqual([
      'NothingDeposited',
      orderId,
    ])
    expect((await chain.view.orders([orderId]))[8]).toBe(OrderState.NONE)
  })

  it.each([1n, INPUT_AMOUNT - 1n])(
    'does not slash for a deposit of %i, which is below the input amount',
    async (amount) => {
      const taken = await chain.fundedQuote({}, amount)
      const { changes, events } = await refundLate(taken)
      expect(events).toEqual(refunded(taken, amount, 0n))
      expect(changes).toEqual({ 'user weth': amount })
      expect((await chain.view.orders([taken.orderId]))[8]).toBe(OrderState.REFUNDED)
    },
  )

  it('returns what arrives after the refund, without a second slash or event', async () => {
    const taken = await chain.fundedQuote()
    await refundLate(taken)
    await chain.transfer(chain.contracts.weth, user, taken.depositAddress, INPUT_AMOUNT)
    expect(await refundNow(taken)).toEqual({ events: [], changes: { 'user weth': INPUT_AMOUNT } })
  })

  it('leaves a deposited order to refund, and returns the tokens at its deposit address', async () => {
    const taken = await chain.depositedQuote()
    await chain.transfer(chain.contracts.weth, user, taken.depositAddress, 5n)
    expect(await refundLate(taken)).toEqual({ events: [], changes: { 'user weth': 5n } })
    await chain.send(anyone, 'refund', [taken.orderId])
    expect(await chain.view.solvers([solver.address])).toEqual([BOND - RESERVE, 0n, 0n, 0, true])
  })

  it('returns the tokens without a slash when another order used the nonce', async () => {
    const other = await chain.depositedQuote()
    await chain.send(solver, 'fill', [other.orderId])
    const taken = await chain.fundedQuote({ nonce: other.quote.nonce, outputAmount: OUTPUT_AMOUNT + 1n })
    const { changes, events } = await refundLate(taken)
    expect(events).toEqual(refunded(taken, INPUT_AMOUNT, 0n))
    expect(changes).toEqual({ 'user weth': INPUT_AMOUNT })
  })

  it('slashes no more than the bond that orders have not reserved', async () => {
    const reserved = 900_000000n
    await chain.depositedQuote({ outputAmount: 20n * reserved })
    const taken = await chain.fundedQuote()
    const { events } = await refundLate(taken)
    expect(events).toEqual(refunded(taken, INPUT_AMOUNT, BOND - reserved))
    expect(await chain.view.solvers([solver.address])).toEqual([reserved, reserved, 0n, 0, true])
  })

  it('returns the tokens when the solver has unstaked and left', async () => {
    const fillDeadline = chain.startTime + 2 * UNSTAKE_DELAY
    const taken = await chain.fundedQuote({ fillDeadline })
    await chain.send(solver, 'requestUnstake', [BOND])
    await chain.nextBlockAt(fillDeadline)
    await chain.send(solver, 'executeUnstake', [])
    expect((await refundLate(taken)).events).toEqual(refunded(taken, INPUT_AMOUNT, 0n))
  })

  it('slashes the solver also for terms that could never be settled', async () => {
    const taken = await chain.fundedQuote({ outputChainId: 10n })
    expect((await refundLate(taken)).events).toEqual(refunded(taken, INPUT_AMOUNT, RESERVE))
  })
})
