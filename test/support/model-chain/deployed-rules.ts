import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import type { ServiceQuote } from '../chain/signed-quote.js'
import { Revert } from './journal.js'
import {
  type CallContext,
  lower,
  MIN_BOND,
  min,
  OrderState,
  type SettlementRules,
  type SettlementState,
  subtract,
} from './settlement-state.js'

/** Calls that the reference contract does not have. */
export interface DeployedRules extends SettlementRules {
  cancelNonces(context: { readonly sender: Address }, word: bigint, mask: bigint): void
  deployAndRecover(
    context: { readonly now: number },
    quote: ServiceQuote,
    signature: Hex,
    token: Address,
  ): void
  recoverFromProxy(context: object, quote: ServiceQuote, signature: Hex, token: Address): void
  settleWithTolerance(context: CallContext, quote: ServiceQuote, signature: Hex, accepted: bigint): void
  withdrawExcess(context: { readonly sender: Address }, token: Address): void
}

/** The rules of deployed contracts (test/support/chain/DeployedSettlement.sol). */
export function createDeployedRules(state: SettlementState): DeployedRules {
  const { bondFor, emit } = state

  function requireBond(solver: Address, outputAmount: bigint): void {
    const { totalBond, reservedBond } = state.bondOf(solver)
    if (subtract(totalBond, reservedBond) < bondFor(outputAmount)) throw new Revert('InsufficientBond')
  }

  /** Takes reserved bond too, and releases as much as it takes. */
  function slash(solver: Address, outputAmount: bigint): bigint {
    const bond = bondFor(outputAmount)
    const { totalBond, reservedBond } = state.bondOf(solver)
    const slashed = min(bond, totalBond)
    state.setBond(solver, {
      totalBond: totalBond - slashed,
      reservedBond: reservedBond > bond ? reservedBond - bond : 0n,
    })
    return slashed
  }

  function checkQuote(quote: ServiceQuote, signature: Hex) {
    const { inputAmount, outputAmount, nonce } = quote
    const solver = lower(quote.solver)
    if (inputAmount === 0n || outputAmount === 0n) throw new Revert('InvalidQuote')
    if (outputAmount < state.minOrder) throw new Revert('BelowMinimumOrder')
    if (quote.fillDeadline <= quote.depositDeadline) throw new Revert('FillDeadlineBeforeDeposit')
    if (quote.outputChainId !== BigInt(state.chainId)) throw new Revert('WrongChain')
    if (!state.bondOf(solver).registered) throw new Revert('SolverNotRegistered')
    if (state.isNonceUsed(solver, nonce)) throw new Revert('NonceAlreadyUsed')
    if (!state.isSigned(quote, signature)) throw new Revert('InvalidSignature')
    return { ...state.identify(quote, signature), solver }
  }

  function takeQuote(orderId: Hex, quote: ServiceQuote, reached: number): void {
    state.markNonce(lower(quote.solver), quote.nonce)
    state.recordOrder(orderId, quote, reached)
  }

  function depositedOrder(orderId: Hex) {
    const order = state.order(orderId)
    if (order.state !== OrderState.DEPOSITED) throw new Revert('OrderNotDeposited')
    return order
  }

  function settle({ sender, now }: CallContext, quote: ServiceQuote, signature: Hex, accepted: bigint): void {
    const { orderId, depositAddress, solver } = checkQuote(quote, signature)
    if (now > quote.depositDeadline) throw new Revert('QuoteExpired')
    const input = state.token(lower(quote.inputToken))
    if (input.balanceOf(depositAddress) < accepted) throw new Revert('InsufficientDeposit')
    takeQuote(orderId, quote, OrderState.SETTLED)
    requireBond(solver, quote.outputAmount)
    const swept = state.sweep(depositAddress, quote.inputToken)
    const output = state.token(lower(quote.outputToken))
    output.transferFrom(state.address, sender, lower(quote.user), quote.outputAmount)
    const paid = min(swept, accepted)
    state.pay(quote.inputToken, solver, paid)
    if (swept > paid) {
      const [user, token, amount] = [lower(quote.user), lower(quote.inputToken), swept - paid]
      state.setExcess(user, token, state.excessOf(user, token) + amount)
      emit('ExcessDeposit', { orderId, user, token, amount })
    }
    emit('Settled', { orderId, user: quote.user, solver: quote.solver })
  }

  function recover(orderId: Hex, depositAddress: Address, user: Address, token: Address): void {
    state.pay(token, user, state.sweep(depositAddress, token))
    emit('TokensRecovered', { orderId, token, recipient: user })
  }

  return {
    registerSolver({ sender }, amount) {
      if (state.bondOf(sender).registered) throw new Revert('SolverAlreadyRegistered')
      if (amount < MIN_BOND) throw new Revert('BelowMinimumBond')
      state.setBond(sender, { registered: true, totalBond: amount })
      emit('SolverRegistered', { solver: sender, amount })
      state.pull(state.bondToken.address, sender, amount)
    },
    cancelNonce({ sender }, nonce) {
      if (state.isNonceUsed(sender, nonce)) throw new Revert('NonceAlreadyUsed')
      state.markNonce(sender, nonce)
      emit('NonceCancelled', { solver: sender, nonce })
    },
    cancelNonces({ sender }, word, mask) {
      for (let bit = 0n; bit < 256n; bit++)
        if ((mask >> bit) & 1n) state.markNonce(sender, (word << 8n) | bit)
    },
    deposit({ sender, now }, quote, signature) {
      const { orderId, solver } = checkQuote(quote, signature)
      if (now > quote.depositDeadline) throw new Revert('QuoteExpired')
      takeQuote(orderId, quote, OrderState.DEPOSITED)
      requireBond(solver, quote.outputAmount)
      state.setBond(solver, {
        reservedBond: state.bondOf(solver).reservedBond + bondFor(quote.outputAmount),
      })
      state.setOrder(orderId, { inputAmount: state.pull(quote.inputToken, sender, quote.inputAmount) })
      state.emitDeposited(orderId, quote)
    },
    fill({ sender, now }, orderId) {
      const order = depositedOrder(orderId)
      if (sender !== order.solver) throw new Revert('NotSolver')
      if (now > order.fillDeadline) throw new Revert('QuoteExpired')
      state.setOrder(orderId, { state: OrderState.SETTLED })
      const { reservedBond } = state.bondOf(sender)
      state.setBond(sender, { reservedBond: subtract(reservedBond, bondFor(order.outputAmount)) })
      state.token(order.outputToken).transferFrom(state.address, sender, order.user, order.outputAmount)
      state.pay(order.inputToken, sender, order.inputAmount)
      emit('Settled', { orderId, user: order.user, solver: order.solver })
    },
    settle: (context, quote, signature) => settle(context, quote, signature, quote.inputAmount),
    settleWithTolerance(context, quote, signature, accepted) {
      if (accepted === 0n || accepted > quote.inputAmount) throw new Revert('InvalidQuote')
      settle(context, quote, signature, accepted)
    },
    refund({ now }, orderId) {
      const order = depositedOrder(orderId)
      if (now <= order.fillDeadline) throw new Revert('OrderNotExpired')
      state.setOrder(orderId, { state: OrderState.REFUNDED })
      const bondSlashed = slash(order.solver, order.outputAmount)
      state.pay(order.inputToken, order.user, order.inputAmount)
      state.payBond(order.user, bondSlashed)
      emit('Refunded', { orderId, user: order.user, inputAmount: order.inputAmount, bondSlashed })
    },
    refundAddressDeposit({ now }, quote, signature) {
      const { orderId, depositAddress, solver } = checkQuote(quote, signature)
      if (now <= quote.fillDeadline) throw new Revert('OrderNotExpired')
      const deposited = state.token(lower(quote.inputToken)).balanceOf(depositAddress)
      if (deposited === 0n) throw new Revert('InsufficientDeposit')
      takeQuote(orderId, quote, OrderState.REFUNDED)
      const bondSlashed = deposited < quote.inputAmount ? 0n : slash(solver, quote.outputAmount)
      const swept = state.sweep(depositAddress, quote.inputToken)
      state.pay(quote.inputToken, quote.user, swept)
      state.payBond(quote.user, bondSlashed)
      emit('Refunded', { orderId, user: quote.user, inputAmount: swept, bondSlashed })
    },
    deployAndRecover({ now }, quote, signature, token) {
      if (lower(token) === lower(quote.inputToken)) throw new Revert('InvalidQuote')
      const { orderId, depositAddress } = checkQuote(quote, signature)
      if (now <= quote.fillDeadline) throw new Revert('OrderNotExpired')
      takeQuote(orderId, quote, OrderState.REFUNDED)
      recover(orderId, depositAddress, quote.user, token)
    },
    recoverFromProxy(_context, quote, signature, token) {
      const { orderId, depositAddress } = state.identify(quote, signature)
      const ended: readonly number[] = [OrderState.SETTLED, OrderState.REFUNDED]
      if (!ended.includes(state.order(orderId).state)) throw new Revert('OrderNotFound')
      recover(orderId, depositAddress, quote.user, token)
    },
    withdrawExcess({ sender }, token) {
      const amount = state.excessOf(sender, lower(token))
      if (amount === 0n) throw new Revert('NoExcessBalance')
      state.setExcess(sender, lower(token), 0n)
      state.pay(token, sender, amount)
      emit('ExcessWithdrawn', { user: sender, token, amount })
    },
  }
}
