import { parseAbi } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { eventsOf, revertOf } from '../../../../test/support/chain/contract-calls.js'
import {
  anyone,
  INPUT_AMOUNT,
  OUTPUT_AMOUNT,
  solver,
  startSettlement,
  user,
} from '../../../../test/support/chain/settlement.js'
import { OrderState } from '../../../../test/support/chain/signed-quote.js'
import { shared } from '../../../../test/support/shared.js'

const chain = await shared(startSettlement())

afterEach(() => chain.reset())

describe('settle', () => {
  it('swaps the tokens at the deposit address for the output for any caller, and emits only Settled', async () => {
    const { quote, signature, orderId, depositAddress } = await chain.fundedQuote()
    const changes = await chain.balanceChanges(async () => {
      const receipt = await chain.send(anyone, 'settle', [quote, signature])
      expect(eventsOf(receipt)).toEqual([
        { eventName: 'Settled', args: { orderId, user: user.address, solver: solver.address } },
      ])
    })
    expect(changes).toEqual({
      'solver usdc': -OUTPUT_AMOUNT,
      'user usdc': OUTPUT_AMOUNT,
      'solver weth': INPUT_AMOUNT,
    })
    expect(await chain.balanceOf(chain.contracts.weth, depositAddress)).toBe(0n)
    expect(await chain.view.orders([orderId])).toEqual([
      user.address,
      solver.address,
      chain.contracts.weth,
      INPUT_AMOUNT,
      chain.contracts.usdc,
      OUTPUT_AMOUNT,
      BigInt(chain.chainId),
      quote.fillDeadline,
      OrderState.SETTLED,
    ])
  })

  it.each([0n, INPUT_AMOUNT - 1n])('reverts with %i at the deposit address', async (amount) => {
    const { quote, signature } = await chain.fundedQuote({}, amount)
    expect(await revertOf(chain.send(solver, 'settle', [quote, signature]))).toEqual([
      'AmountNotReceived',
      chain.contracts.weth,
      amount,
      INPUT_AMOUNT,
    ])
  })

  it('succeeds after the deposit deadline, up to the second of the fill deadline', async () => {
    const { quote, signature, orderId } = await chain.fundedQuote()
    await chain.nextBlockAt(quote.fillDeadline)
    await chain.send(solver, 'settle', [quote, signature])
    expect((await chain.view.orders([orderId]))[8]).toBe(OrderState.SETTLED)
  })

  it('reverts one second after the fill deadline', async () => {
    const { quote, signature } = await chain.fundedQuote()
    await chain.nextBlockAt(quote.fillDeadline + 1)
    expect(await revertOf(chain.send(solver, 'settle', [quote, signature]))).toEqual([
      'FillDeadlinePassed',
      quote.fillDeadline,
    ])
  })

  it('does not settle an order that was deposited', async () => {
    const { quote, signature, depositAddress } = await chain.depositedQuote()
    await chain.transfer(chain.contracts.weth, user, depositAddress, INPUT_AMOUNT)
    expect(await revertOf(chain.send(solver, 'settle', [quote, signature]))).toEqual([
      'NonceAlreadyUsed',
      solver.address,
      quote.nonce,
    ])
  })

  it('ends the order, so that no refund is possible', async () => {
    const { quote, signature, orderId } = await chain.fundedQuote()
    await chain.send(anyone, 'settle', [quote, signature])
    await chain.nextBlockAt(quote.fillDeadline + 1)
    expect(await revertOf(chain.send(user, 'refund', [orderId]))).toEqual(['OrderNotDeposited', orderId])
    expect(await revertOf(chain.send(user, 'refundAddressDeposit', [quote, signature]))).toEqual([
      'NothingDeposited',
      orderId,
    ])
  })
})

describe('the contract at a deposit address', () => {
  const proxyAbi = parseAbi(['function sweep(address token)', 'error NotSettlement(address caller)'])

  it('lets only the settlement contract take its tokens', async () => {
    const { quote, signature, depositAddress } = await chain.fundedQuote()
    await chain.send(anyone, 'settle', [quote, signature])
    const sweep = chain.transact(user, depositAddress, [...proxyAbi], 'sweep', [chain.contracts.weth])
    expect(await revertOf(sweep)).toEqual(['NotSettlement', user.address])
  })
})
