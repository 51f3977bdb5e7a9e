import { afterEach, describe, expect, it } from 'vitest'
import { eventsOf, revertOf } from '../../../../test/support/chain/contract-calls.js'
import {
  anyone,
  BOND,
  INPUT_AMOUNT,
  OUTPUT_AMOUNT,
  RESERVE,
  solver,
  startSettlement,
  user,
} from '../../../../test/support/chain/settlement.js'
import { OrderState } from '../../../../test/support/chain/signed-quote.js'
import { shared } from '../../../../test/support/shared.js'

const UNKNOWN_ORDER = `0x${'11'.repeat(32)}` as const

const chain = await shared(startSettlement())

afterEach(() => chain.reset())

describe('fill', () => {
  it('swaps output for input, releases the reserve and settles the order', async () => {
    const { orderId } = await chain.depositedQuote()
    const changes = await chain.balanceChanges(async () => {
      const receipt = await chain.send(solver, 'fill', [orderId])
      expect(eventsOf(receipt)).toEqual([
        { eventName: 'Settled', args: { orderId, user: user.address, solver: solver.address } },
      ])
    })
    expect(changes).toEqual({
      'solver usdc': -OUTPUT_AMOUNT,
      'user usdc': OUTPUT_AMOUNT,
      'settlement weth': -INPUT_AMOUNT,
      'solver weth': INPUT_AMOUNT,
    })
    expect(await chain.view.solvers([solver.address])).toEqual([BOND, 0n, 0n, 0, true])
    expect((await chain.view.orders([orderId]))[8]).toBe(OrderState.SETTLED)
  })

  it('reverts for anyone but the solver of the order', async () => {
    const { orderId } = await chain.depositedQuote()
    expect(await revertOf(chain.send(anyone, 'fill', [orderId]))).toEqual(['CallerNotSolver', anyone.address])
  })

  it('succeeds in the second of the fill deadline', async () => {
    const { quote, orderId } = await chain.depositedQuote()
    await chain.nextBlockAt(quote.fillDeadline)
    await chain.send(solver, 'fill', [orderId])
    expect((await chain.view.orders([orderId]))[8]).toBe(OrderState.SETTLED)
  })

  it('reverts one second after the fill deadline', async () => {
    const { quote, orderId } = await chain.depositedQuote()
    await chain.nextBlockAt(quote.fillDeadline + 1)
    expect(await revertOf(chain.send(solver, 'fill', [orderId]))).toEqual([
      'FillDeadlinePassed',
      quote.fillDeadline,
    ])
  })

  it('succeeds only once, and only for known orders', async () => {
    const { orderId } = await chain.depositedQuote()
    await chain.send(solver, 'fill', [orderId])
    expect(await revertOf(chain.send(solver, 'fill', [orderId]))).toEqual(['OrderNotDeposited', orderId])
    expect(await revertOf(chain.send(solver, 'fill', [UNKNOWN_ORDER]))).toEqual([
      'OrderNotDeposited',
      UNKNOWN_ORDER,
    ])
  })
})

describe('refund', () => {
  it('gives the user the input and the reserved bond, for any caller', async () => {
    const { quote, orderId } = await chain.depositedQuote()
    await chain.nextBlockAt(quote.fillDeadline + 1)
    const changes = await chain.balanceChanges(async () => {
      const receipt = await chain.send(anyone, 'refund', [orderId])
      expect(eventsOf(receipt)).toEqual([
        {
          eventName: 'Refunded',
          args: { orderId, user: user.address, inputAmount: INPUT_AMOUNT, bondSlashed: RESERVE },
        },
      ])
    })
    expect(changes).toEqual({
      'settlement weth': -INPUT_AMOUNT,
      'user weth': INPUT_AMOUNT,
      'settlement bond': -RESERVE,
      'user bond': RESERVE,
    })
    expect(await chain.view.solvers([solver.address])).toEqual([BOND - RESERVE, 0n, 0n, 0, true])
    expect((await chain.view.orders([orderId]))[8]).toBe(OrderState.REFUNDED)
  })

  it('reverts while the order can still be filled', async () => {
    const { quote, orderId } = await chain.depositedQuote()
    await chain.nextBlockAt(quote.fillDeadline)
    expect(await revertOf(chain.send(user, 'refund', [orderId]))).toEqual([
      'FillDeadlineNotPassed',
      quote.fillDeadline,
    ])
  })

  it('succeeds only once, and not for filled or unknown orders', async () => {
    const filled = await chain.depositedQuote()
    await chain.send(solver, 'fill', [filled.orderId])
    const { quote, orderId } = await chain.depositedQuote()
    await chain.nextBlockAt(quote.fillDeadline + 1)
    await chain.send(user, 'refund', [orderId])
    for (const id of [orderId, filled.orderId, UNKNOWN_ORDER]) {
      expect(await revertOf(chain.send(user, 'refund', [id]))).toEqual(['OrderNotDeposited', id])
    }
  })

  it('ends the order, so that it cannot be filled', async () => {
    const { quote, orderId } = await chain.depositedQuote()
    await chain.nextBlockAt(quote.fillDeadline + 1)
    await chain.send(user, 'refund', [orderId])
    expect(await revertOf(chain.send(solver, 'fill', [orderId]))).toEqual(['OrderNotDeposited', orderId])
  })
})
