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

/** Code of a contract that returns 1 for every call: PUSH1 1, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN. */
const ALWAYS_ONE = '0x60015f5260205ff3'

const chain = await shared(startSettlement())

afterEach(() => chain.reset())

describe('deposit', () => {
  it('takes the input, reserves 5% of the output from the bond and emits the order', async () => {
    const { quote, signature, orderId } = await chain.signedQuote()
    const changes = await chain.balanceChanges(async () => {
      const receipt = await chain.send(user, 'deposit', [quote, signature])
      expect(eventsOf(receipt)).toEqual([
        {
          eventName: 'Deposited',
          args: {
            orderId,
            user: user.address,
            solver: solver.address,
            inputToken: chain.contracts.weth,
            inputAmount: INPUT_AMOUNT,
            outputToken: chain.contracts.usdc,
            outputAmount: OUTPUT_AMOUNT,
            fillDeadline: quote.fillDeadline,
          },
        },
      ])
    })
    expect(changes).toEqual({ 'user weth': -INPUT_AMOUNT, 'settlement weth': INPUT_AMOUNT })
    expect(await chain.view.solvers([solver.address])).toEqual([BOND, RESERVE, 0n, 0, true])
    expect(await chain.view.availableBond([solver.address])).toBe(BOND - RESERVE)
    expect(await chain.view.orders([orderId])).toEqual([
      user.address,
      solver.address,
      chain.contracts.weth,
      INPUT_AMOUNT,
      chain.contracts.usdc,
      OUTPUT_AMOUNT,
      BigInt(chain.chainId),
      quote.fillDeadline,
      OrderState.DEPOSITED,
    ])
  })

  it('reverts for anyone but the user of the quote', async () => {
    const { quote, signature } = await chain.signedQuote()
    expect(await revertOf(chain.send(anyone, 'deposit', [quote, signature]))).toEqual([
      'CallerNotUser',
      anyone.address,
    ])
  })

  it('succeeds in the second of the deposit deadline', async () => {
    const { quote, signature, orderId } = await chain.signedQuote()
    await chain.nextBlockAt(quote.depositDeadline)
    await chain.send(user, 'deposit', [quote, signature])
    expect((await chain.view.orders([orderId]))[8]).toBe(OrderState.DEPOSITED)
  })

  it('reverts one second after the deposit deadline', async () => {
    const { quote, signature } = await chain.signedQuote()
    await chain.nextBlockAt(quote.depositDeadline + 1)
    expect(await revertOf(chain.send(user, 'deposit', [quote, signature]))).toEqual([
      'DepositDeadlinePassed',
      quote.depositDeadline,
    ])
  })

  it('reserves nothing from the unstaking part of the bond', async () => {
    await chain.send(solver, 'requestUnstake', [BOND - RESERVE + 1n])
    const { quote, signature } = await chain.signedQuote()
    expect(await revertOf(chain.send(user, 'deposit', [quote, signature]))).toEqual([
      'InsufficientBond',
      RESERVE - 1n,
      RESERVE,
    ])
    await chain.send(solver, 'cancelUnstake', [])
    await chain.send(user, 'deposit', [quote, signature])
  })

  it('reverts for a token that returns true and transfers nothing', async () => {
    const inputToken = '0x0000000000000000000000000000000000001111'
    await chain.client.setCode({ address: inputToken, bytecode: ALWAYS_ONE })
    const { quote, signature } = await chain.signedQuote({ inputToken })
    expect(await revertOf(chain.send(user, 'deposit', [quote, signature]))).toEqual([
      'AmountNotReceived',
      inputToken,
      0n,
      INPUT_AMOUNT,
    ])
  })
})
