import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import type { Rules } from '../chain/chain.js'
import type { ServiceQuote } from '../chain/signed-quote.js'
import { OrderState } from '../chain/signed-quote.js'
import { Revert } from './journal.js'
import { type CallContext, min, type SettlementState, subtract } from './settlement-state.js'

const MIN_BOND = 1000_000000n
const UNSTAKE_DELAY_SECONDS = 7 * 24 * 60 * 60

/** How the deployed contract names the errors of the reference contract. It gives them no arguments. */
const DEPLOYED_NAMES: Readonly<Record<string, string>> = {
  BondBelowMinimum: 'BelowMinimumBond',
  ZeroAmount: 'InvalidQuote',
  OrderBelowMinimum: 'BelowMinimumOrder',
  WrongOutputChain: 'WrongChain',
  FillDeadlineBeforeDepositDeadline: 'FillDeadlineBeforeDeposit',
  SignerNotSolver: 'InvalidSignature',
  CallerNotSolver: 'NotSolver',
  DepositDeadlinePassed: 'QuoteExpired',
  FillDeadlinePassed: 'QuoteExpired',
  FillDeadlineNotPassed: 'OrderNotExpired',
  NothingDeposited: 'InsufficientDeposit',
}

/** The order in which the deployed contract checks a quote, by the errors of the reference contract. */
const DEPLOYED_ORDER = [
  'ZeroAmount',
  'OrderBelowMinimum',
  'FillDeadlineBeforeDepositDeadline',
  'WrongOutputChain',
  'SolverNotRegistered',
  'NonceAlreadyUsed',
  'SignerNotSolver',
]

/**
 * The calls of both settlement contracts: packages/cli/contracts/Settlement.sol, and test/support/chain/DeployedSettlement.sol,
 * which says how it differs. Each throws Revert.
 */
export function createSettlementRules(state: SettlementState, rules: Rules) {
  const { bondFor, bondOf, emit } = state
  const isDeployed = rules === 'deployed'

  function fail(errorName: string, ...args: readonly unknown[]): never {
    throw isDeployed ? new Revert(DEPLOYED_NAMES[errorName] ?? errorName) : new Revert(errorName, args)
  }

  /** The reference contract writes its event before it moves tokens, the deployed one after. */
  function moveWith(writeEvent: () => void, move: () => void): void {
    if (!isDeployed) writeEvent()
    move()
    if (isDeployed) writeEvent()
  }

  function available(solver: Address): bigint {
    const { totalBond, reservedBond } = bondOf(solver)
    return subtract(totalBond, reservedBond)
  }

  function requireBond(solver: Address, outputAmount: bigint): void {
    const unreserved = available(solver)
    const { unstakeAmount } = bondOf(solver)
    const free = unreserved > unstakeAmount ? unreserved - unstakeAmount : 0n
    if (free < bondFor(outputAmount)) fail('InsufficientBond', free, bondFor(outputAmount))
  }

  /** Takes reserved bond too, and releases as much as it takes. */
  function slash(solver: Address, outputAmount: bigint): bigint {
    const bond = bondFor(outputAmount)
    const { totalBond, reservedBond } = bondOf(solver)
    const slashed = min(bond, totalBond)
    state.setBond(solver, {
      totalBond: totalBond - slashed,
      reservedBond: reservedBond > bond ? reservedBond - bond : 0n,
    })
    return slashed
  }

  /**
   * @param reached the state of the new order
   * @param check of the call itself: the deployed contract checks the quote first
   */
  function takeQuote(quote: ServiceQuote, signature: Hex, reached: number, check: () => void) {
    const { inputAmount, outputAmount, outputChainId, depositDeadline, fillDeadline, nonce } = quote
    const solver = lowerCase(quote.solver)
    const least = isDeployed ? depositDeadline + 1 : depositDeadline
    /** In the order of the reference contract: whether each is wrong, and the arguments of its error. */
    const checks: Record<string, readonly [boolean, ...unknown[]]> = {
      ZeroAmount: [inputAmount === 0n || outputAmount === 0n],
      OrderBelowMinimum: [outputAmount < state.minOrder, outputAmount, state.minOrder],
      WrongOutputChain: [outputChainId !== BigInt(state.chainId), outputChainId],
      FillDeadlineBeforeDepositDeadline: [fillDeadline < least, depositDeadline, fillDeadline],
      SignerNotSolver: [!state.isSigned(quote, signature)],
      SolverNotRegistered: [!bondOf(solver).registered, solver],
      NonceAlreadyUsed: [state.isNonceUsed(solver, nonce), solver, nonce],
    }
    if (!isDeployed) check()
    for (const name of isDeployed ? DEPLOYED_ORDER : Object.keys(checks)) {
      const [isWrong, ...args] = checks[name] ?? []
      if (isWrong) fail(name, ...args)
    }
    if (isDeployed) check()
    state.markNonce(solver, nonce)
    const identified = state.identify(quote, signature)
    state.recordOrder(identified.orderId, quote, reached)
    return { ...identified, solver }
  }

  function depositedOrder(orderId: Hex) {
    const order = state.order(orderId)
    if (order.state !== OrderState.DEPOSITED) fail('OrderNotDeposited', orderId)
    return order
  }

  function requireExpired(now: number, { fillDeadline }: Pick<ServiceQuote, 'fillDeadline'>): void {
    if (now <= fillDeadline) fail('FillDeadlineNotPassed', fillDeadline)
  }

  const emitSettled = (orderId: Hex, { user, solver }: { user: Address; solver: Address }) =>
    emit('Settled', { orderId, user, solver })

  function settle({ sender, now }: CallContext, quote: ServiceQuote, signature: Hex, accepted: bigint): void {
    const { inputToken, inputAmount, outputAmount } = quote
    const deadline = isDeployed ? quote.depositDeadline : quote.fillDeadline
    const { depositAddress } = state.identify(quote, signature)
    const { orderId, solver } = takeQuote(quote, signature, OrderState.SETTLED, () => {
      if (now > deadline) fail('FillDeadlinePassed', deadline)
      if (isDeployed && state.token(inputToken).balanceOf(depositAddress) < accepted) fail('NothingDeposited')
    })
    requireBond(solver, outputAmount)
    moveWith(
      () => emitSettled(orderId, quote),
      () => {
        const swept = state.sweep(depositAddress, inputToken)
        if (!isDeployed && swept < inputAmount)
          fail('AmountNotReceived', lowerCase(inputToken), swept, inputAmount)
        const payer = isDeployed ? sender : solver
        state.token(quote.outputToken).transferFrom(state.address, payer, lowerCase(quote.user), outputAmount)
        const paid = min(swept, accepted)
        state.pay(inputToken, solver, paid)
        const surplus = { orderId, user: quote.user, token: inputToken, amount: swept - paid }
        // The deployed contract keeps it for a call that the model does not have.
        if (surplus.amount > 0n && isDeployed) emit('ExcessDeposit', surplus)
        else if (surplus.amount > 0n) state.pay(inputToken, quote.user, surplus.amount)
      },
    )
  }

  /** The reference contract gives back what lies at the address of any quote, and ends the quote unless it was taken. */
  function refundQuote(now: number, quote: ServiceQuote, signature: Hex): void {
    requireExpired(now, quote)
    const { solver, nonce, outputAmount } = { ...quote, solver: lowerCase(quote.solver) }
    if (!state.isSigned(quote, signature)) fail('SignerNotSolver')
    const { orderId, depositAddress } = state.identify(quote, signature)
    const swept = state.sweep(depositAddress, quote.inputToken)
    if (swept === 0n) fail('NothingDeposited', orderId)
    if (state.order(orderId).state === OrderState.NONE) {
      const isMissed = swept >= quote.inputAmount && !state.isNonceUsed(solver, nonce)
      const bondSlashed = isMissed ? min(bondFor(outputAmount), available(solver)) : 0n
      state.setBond(solver, { totalBond: bondOf(solver).totalBond - bondSlashed })
      state.markNonce(solver, nonce)
      state.recordOrder(orderId, quote, OrderState.REFUNDED)
      emit('Refunded', { orderId, user: quote.user, inputAmount: swept, bondSlashed })
      state.payBond(quote.user, bondSlashed)
    }
    state.pay(quote.inputToken, quote.user, swept)
  }

  /** The deployed contract takes the quote for it, so that a used nonce keeps tokens there for good. */
  function refundUntaken(now: number, quote: ServiceQuote, signature: Hex): void {
    const { depositAddress } = state.identify(quote, signature)
    const deposited = state.token(quote.inputToken).balanceOf(depositAddress)
    const { orderId, solver } = takeQuote(quote, signature, OrderState.REFUNDED, () => {
      requireExpired(now, quote)
      if (deposited === 0n) fail('NothingDeposited')
    })
    const bondSlashed = deposited < quote.inputAmount ? 0n : slash(solver, quote.outputAmount)
    const inputAmount = state.sweep(depositAddress, quote.inputToken)
    state.pay(quote.inputToken, quote.user, inputAmount)
    state.payBond(quote.user, bondSlashed)
    emit('Refunded', { orderId, user: quote.user, inputAmount, bondSlashed })
  }

  function recover(quote: ServiceQuote, signature: Hex, token: Address): void {
    const { orderId, depositAddress } = state.identify(quote, signature)
    state.pay(token, quote.user, state.sweep(depositAddress, token))
    emit('TokensRecovered', { orderId, token, recipient: quote.user })
  }

  /** Calls with the rules of the reference contract only. */
  const unstaking = {
    requestUnstake({ sender, now }: CallContext, amount: bigint): void {
      if (amount === 0n) fail('ZeroAmount')
      if (!bondOf(sender).registered) fail('SolverNotRegistered', sender)
      if (bondOf(sender).unstakeAmount !== 0n) fail('UnstakeAlreadyRequested')
      if (amount > available(sender)) fail('InsufficientBond', available(sender), amount)
      const unlockTime = now + UNSTAKE_DELAY_SECONDS
      state.setBond(sender, { unstakeAmount: amount, unstakeTimestamp: unlockTime })
      emit('UnstakeRequested', { solver: sender, amount, unlockTime })
    },
    cancelUnstake({ sender }: CallContext): void {
      if (bondOf(sender).unstakeAmount === 0n) fail('NoUnstakeRequested')
      state.setBond(sender, { unstakeAmount: 0n, unstakeTimestamp: 0 })
      emit('UnstakeCancelled', { solver: sender })
    },
  }

  return {
    ...(isDeployed ? {} : unstaking),
    registerSolver({ sender }: CallContext, amount: bigint): void {
      if (bondOf(sender).registered) fail('SolverAlreadyRegistered', sender)
      if (amount < MIN_BOND) fail('BondBelowMinimum', amount)
      state.setBond(sender, { registered: true, totalBond: amount })
      emit('SolverRegistered', { solver: sender, amount })
      state.pull(state.bondToken.address, sender, amount)
    },
    cancelNonce({ sender }: CallContext, nonce: bigint): void {
      if (state.isNonceUsed(sender, nonce)) fail('NonceAlreadyUsed', sender, nonce)
      state.markNonce(sender, nonce)
      emit('NonceCancelled', { solver: sender, nonce })
    },
    cancelNonces({ sender }: CallContext, word: bigint, mask: bigint): void {
      for (let bit = 0n; bit < 256n; bit++)
        if ((mask >> bit) & 1n) state.markNonce(sender, (word << 8n) | bit)
    },
    deposit({ sender, now }: CallContext, quote: ServiceQuote, signature: Hex): void {
      const { inputToken, inputAmount, outputAmount, depositDeadline } = quote
      if (!isDeployed && sender !== lowerCase(quote.user)) fail('CallerNotUser', sender)
      const { orderId, solver } = takeQuote(quote, signature, OrderState.DEPOSITED, () => {
        if (now > depositDeadline) fail('DepositDeadlinePassed', depositDeadline)
      })
      requireBond(solver, outputAmount)
      state.setBond(solver, { reservedBond: bondOf(solver).reservedBond + bondFor(outputAmount) })
      moveWith(
        () => state.emitDeposited(orderId, quote),
        () => {
          const received = state.pull(inputToken, sender, inputAmount)
          if (!isDeployed && received !== inputAmount)
            fail('AmountNotReceived', lowerCase(inputToken), received, inputAmount)
          state.setOrder(orderId, { inputAmount: received })
        },
      )
    },
    fill({ sender, now }: CallContext, orderId: Hex): void {
      const order = depositedOrder(orderId)
      if (sender !== order.solver) fail('CallerNotSolver', sender)
      if (now > order.fillDeadline) fail('FillDeadlinePassed', order.fillDeadline)
      state.setOrder(orderId, { state: OrderState.SETTLED })
      const { reservedBond } = bondOf(sender)
      state.setBond(sender, { reservedBond: subtract(reservedBond, bondFor(order.outputAmount)) })
      moveWith(
        () => emitSettled(orderId, order),
        () => {
          state.token(order.outputToken).transferFrom(state.address, sender, order.user, order.outputAmount)
          state.pay(order.inputToken, sender, order.inputAmount)
        },
      )
    },
    settle: (context: CallContext, quote: ServiceQuote, signature: Hex) =>
      settle(context, quote, signature, quote.inputAmount),
    settleWithTolerance(context: CallContext, quote: ServiceQuote, signature: Hex, accepted: bigint): void {
      if (accepted === 0n || accepted > quote.inputAmount) fail('InvalidQuote')
      settle(context, quote, signature, accepted)
    },
    refund({ now }: CallContext, orderId: Hex): void {
      const { user, solver, inputToken, inputAmount, ...order } = depositedOrder(orderId)
      requireExpired(now, order)
      state.setOrder(orderId, { state: OrderState.REFUNDED })
      const bondSlashed = slash(solver, order.outputAmount)
      moveWith(
        () => emit('Refunded', { orderId, user, inputAmount, bondSlashed }),
        () => {
          state.pay(inputToken, user, inputAmount)
          state.payBond(user, bondSlashed)
        },
      )
    },
    refundAddressDeposit: ({ now }: CallContext, quote: ServiceQuote, signature: Hex) =>
      isDeployed ? refundUntaken(now, quote, signature) : refundQuote(now, quote, signature),
    deployAndRecover({ now }: CallContext, quote: ServiceQuote, signature: Hex, token: Address): void {
      if (lowerCase(token) === lowerCase(quote.inputToken)) fail('InvalidQuote')
      takeQuote(quote, signature, OrderState.REFUNDED, () => requireExpired(now, quote))
      recover(quote, signature, token)
    },
    recoverFromProxy(_context: CallContext, quote: ServiceQuote, signature: Hex, token: Address): void {
      const { state: reached } = state.order(state.identify(quote, signature).orderId)
      if (reached !== OrderState.SETTLED && reached !== OrderState.REFUNDED) fail('OrderNotFound')
      recover(quote, signature, token)
    },
  }
}
