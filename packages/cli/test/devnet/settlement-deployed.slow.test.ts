import type { Address } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { deployedSettlementAbi } from '../../../../gen/contracts/deployed-settlement.js'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { eventsOf, revertOf } from '../../../../test/support/chain/contract-calls.js'
import { compileSource } from '../../../../test/support/chain/deploy-source.js'
import {
  anyone,
  BOND,
  type Fixture,
  INPUT_AMOUNT,
  OUTPUT_AMOUNT,
  otherSolver,
  RESERVE,
  solver,
  startSettlement,
  user,
} from '../../../../test/support/chain/settlement.js'
import { OrderState } from '../../../../test/support/chain/signed-quote.js'
import { shared } from '../../../../test/support/shared.js'

const chain = await shared(startSettlement('deployed'))

afterEach(() => chain.reset())

type Taken = Awaited<ReturnType<Fixture['signedQuote']>>

const stateOf = async ({ orderId }: Taken) => (await chain.view.orders([orderId]))[8]
const bondOf = async () => (await chain.view.solvers([solver.address])).slice(0, 2)
const settle = ({ quote, signature }: Taken, caller = solver) =>
  chain.send(caller, 'settle', [quote, signature])

async function afterFillDeadline<T>({ quote }: Taken, action: () => Promise<T>): Promise<T> {
  await chain.nextBlockAt(quote.fillDeadline + 1)
  return action()
}

const refundAddressDeposit = (taken: Taken) =>
  afterFillDeadline(taken, () => chain.send(anyone, 'refundAddressDeposit', [taken.quote, taken.signature]))

/** A token of which the user has plenty, and which the contract may take. */
async function deployToken(source: string): Promise<Address> {
  const { devnet } = chain
  const token = await compileSource(source).deploy(devnet)
  await chain.mint(token, user.address, 100n * INPUT_AMOUNT)
  await chain.approve(token, user, 100n * INPUT_AMOUNT)
  return token
}

describe('a deposit by a call', () => {
  it("is paid by whoever calls, and the order is the user's", async () => {
    const taken = await chain.signedQuote()
    await chain.mint(chain.contracts.weth, anyone.address, INPUT_AMOUNT)
    await chain.approve(chain.contracts.weth, anyone, INPUT_AMOUNT)
    const changes = await chain.balanceChanges(() =>
      chain.send(anyone, 'deposit', [taken.quote, taken.signature]),
    )
    expect(changes).toEqual({ 'anyone weth': -INPUT_AMOUNT, 'settlement weth': INPUT_AMOUNT })
    expect((await chain.view.orders([taken.orderId]))[0]).toBe(user.address)
    expect(await bondOf()).toEqual([BOND, RESERVE])
  })

  it.each([
    [0, ['FillDeadlineBeforeDeposit']],
    [1, undefined],
  ])('with %i seconds between both deadlines', async (window, revert) => {
    const depositDeadline = chain.startTime + 60
    const { quote, signature } = await chain.signedQuote({
      depositDeadline,
      fillDeadline: depositDeadline + window,
    })
    expect(await revertOf(chain.send(user, 'deposit', [quote, signature]))).toEqual(revert)
  })

  it('of a token that takes a fee is an order for what arrived, and its event says what was quoted', async () => {
    const inputToken = await deployToken('FeeToken')
    const { quote, signature, orderId } = await chain.signedQuote({ inputToken })
    const arrived = (INPUT_AMOUNT * 99n) / 100n
    const [event] = eventsOf(await chain.send(user, 'deposit', [quote, signature]))
    expect(event).toMatchObject({ eventName: 'Deposited', args: { inputAmount: INPUT_AMOUNT } })
    expect((await chain.view.orders([orderId]))[3]).toBe(arrived)
    await chain.send(solver, 'fill', [orderId])
    expect(await chain.balanceOf(inputToken, solver.address)).toBe((arrived * 99n) / 100n)
    expect(await chain.balanceOf(chain.contracts.usdc, user.address)).toBe(OUTPUT_AMOUNT)
  })
})

describe('settle', () => {
  it('takes a deposit at an address up to the deposit deadline', async () => {
    const taken = await chain.fundedQuote()
    await chain.nextBlockAt(taken.quote.depositDeadline)
    const changes = await chain.balanceChanges(() => settle(taken))
    expect(changes).toEqual({
      'solver weth': INPUT_AMOUNT,
      'solver usdc': -OUTPUT_AMOUNT,
      'user usdc': OUTPUT_AMOUNT,
    })
    expect(await stateOf(taken)).toBe(OrderState.SETTLED)
  })

  it('reverts a second after the deposit deadline', async () => {
    const taken = await chain.fundedQuote()
    await chain.nextBlockAt(taken.quote.depositDeadline + 1)
    expect(await revertOf(settle(taken))).toEqual(['QuoteExpired'])
  })

  it('takes the output from its caller, and gives the input to the solver of the quote', async () => {
    const taken = await chain.fundedQuote()
    expect(await chain.balanceChanges(() => settle(taken, otherSolver))).toEqual({
      'solver weth': INPUT_AMOUNT,
      'user usdc': OUTPUT_AMOUNT,
    })
    const other = await chain.fundedQuote()
    expect((await revertOf(settle(other, anyone)))?.[0]).toBe('ERC20InsufficientAllowance')
  })

  it('reverts for too little, which settleWithTolerance takes for the full output', async () => {
    const taken = await chain.fundedQuote({}, INPUT_AMOUNT - 5n)
    expect(await revertOf(settle(taken))).toEqual(['InsufficientDeposit'])
    const tolerant = (accepted: bigint) =>
      chain.send(solver, 'settleWithTolerance', [taken.quote, taken.signature, accepted])
    expect(await revertOf(tolerant(INPUT_AMOUNT + 1n))).toEqual(['InvalidQuote'])
    expect(await chain.balanceChanges(() => tolerant(INPUT_AMOUNT - 5n))).toEqual({
      'solver weth': INPUT_AMOUNT - 5n,
      'solver usdc': -OUTPUT_AMOUNT,
      'user usdc': OUTPUT_AMOUNT,
    })
  })
})

describe('nonces', () => {
  it('that are cancelled keep the tokens at the deposit address for good', async () => {
    const taken = await chain.fundedQuote()
    const { quote, signature } = taken
    await chain.send(solver, 'cancelNonce', [quote.nonce])
    expect(await revertOf(settle(taken))).toEqual(['NonceAlreadyUsed'])
    expect(await revertOf(refundAddressDeposit(taken))).toEqual(['NonceAlreadyUsed'])
    const { weth, usdc } = chain.contracts
    const recover = (call: 'recoverFromProxy' | 'deployAndRecover', token: Address) =>
      revertOf(chain.send(anyone, call, [quote, signature, token]))
    expect(await recover('recoverFromProxy', weth)).toEqual(['OrderNotFound'])
    expect(await recover('deployAndRecover', weth)).toEqual(['InvalidQuote'])
    expect(await recover('deployAndRecover', usdc)).toEqual(['NonceAlreadyUsed'])
    expect(await chain.balanceOf(weth, taken.depositAddress)).toBe(INPUT_AMOUNT)
  })

  it('are cancelled by a word and a mask without an event, also those that were used', async () => {
    const taken = await chain.signedQuote({ nonce: 256n * 5n + 3n })
    await chain.send(solver, 'cancelNonce', [256n * 5n + 7n])
    const receipt = await chain.send(solver, 'cancelNonces', [5n, 0b1000_1000n])
    expect(receipt.logs).toEqual([])
    const used = await Promise.all(
      [3n, 4n, 7n].map((bit) => chain.view.isNonceUsed([solver.address, 256n * 5n + bit])),
    )
    expect(used).toEqual([true, false, true])
    expect(await chain.view.isNonceUsed([otherSolver.address, taken.quote.nonce])).toBe(false)
    expect(await revertOf(chain.send(user, 'deposit', [taken.quote, taken.signature]))).toEqual([
      'NonceAlreadyUsed',
    ])
    expect(await revertOf(chain.send(solver, 'cancelNonce', [taken.quote.nonce]))).toEqual([
      'NonceAlreadyUsed',
    ])
  })
})

describe('refundAddressDeposit', () => {
  it('reverts up to the fill deadline, and without tokens', async () => {
    const taken = await chain.fundedQuote()
    await chain.nextBlockAt(taken.quote.fillDeadline)
    const call = (of: Taken) => revertOf(chain.send(anyone, 'refundAddressDeposit', [of.quote, of.signature]))
    expect(await call(taken)).toEqual(['OrderNotExpired'])
    expect(await revertOf(refundAddressDeposit(await chain.signedQuote()))).toEqual(['InsufficientDeposit'])
  })

  it('releases the reservation of another open order, whose fill then reverts with Panic 17', async () => {
    const missed = await chain.fundedQuote()
    const later = chain.startTime + 3600
    const open = await chain.depositedQuote({ depositDeadline: later, fillDeadline: later + 60 })
    expect(await bondOf()).toEqual([BOND, RESERVE])
    await refundAddressDeposit(missed)
    expect(await bondOf()).toEqual([BOND - RESERVE, 0n])
    expect(await revertOf(chain.send(solver, 'fill', [open.orderId]))).toEqual(['Panic', 17n])
    // A further order reserves again: the fill then releases the reservation of that one.
    const other = await chain.depositedQuote({ depositDeadline: later, fillDeadline: later + 60 })
    await chain.send(solver, 'fill', [open.orderId])
    expect(await revertOf(chain.send(solver, 'fill', [other.orderId]))).toEqual(['Panic', 17n])
  })

  it('slashes reserved bond too', async () => {
    const missed = await chain.fundedQuote()
    const later = chain.startTime + 3600
    // All of the bond is reserved for another order.
    await chain.depositedQuote({
      outputAmount: BOND * 20n,
      depositDeadline: later,
      fillDeadline: later + 60,
    })
    expect(await bondOf()).toEqual([BOND, BOND])
    await refundAddressDeposit(missed)
    expect(await bondOf()).toEqual([BOND - RESERVE, BOND - RESERVE])
  })
})

describe('the bond', () => {
  it('that is unstaking still secures new orders, and the least bond stays', async () => {
    const { bondToken } = chain.contracts
    await chain.mint(bondToken, solver.address, BOND)
    await chain.approve(bondToken, solver, BOND)
    expect(await revertOf(chain.send(solver, 'requestUnstake', [1n]))).toEqual(['BelowMinimumBond'])
    await chain.send(solver, 'addBond', [BOND])
    await chain.send(solver, 'requestUnstake', [BOND])
    await chain.depositedQuote({ outputAmount: 40n * BOND })
    expect(await bondOf()).toEqual([2n * BOND, 2n * BOND])
    expect(await revertOf(chain.send(solver, 'executeUnstake', []))).toEqual(['UnstakeNotReady'])
  })
})

it('has all views, events and calls of the reference contract', () => {
  const signatures = (
    abi: readonly { type: string; name?: string; inputs?: readonly { type: string }[] }[],
  ) =>
    abi
      .filter(({ type }) => type === 'function' || type === 'event')
      .map(({ type, name, inputs = [] }) => `${type} ${name}(${inputs.map((input) => input.type)})`)
  expect(signatures(deployedSettlementAbi)).toEqual(expect.arrayContaining(signatures(settlementAbi)))
})
