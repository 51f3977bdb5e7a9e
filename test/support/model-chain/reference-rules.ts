import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import type { ServiceQuote } from '../chain/signed-quote.js'
import { createBondRules } from './bond-rules.js'
import { Revert } from './journal.js'
import {
  lower,
  min,
  OrderState,
  type SettlementRules,
  type SettlementState,
  subtract,
} from './settlement-state.js'

/** The rules of the reference contract (packages/cli/contracts/Settlement.sol). */
export function createReferenceRules(state: SettlementState): SettlementRules {
  const { bondFor, emit } = state

  function available(solver: Address): bigint {
    const { totalBond, reservedBond } = state.bondOf(solver)
    return subtract(totalBond, reservedBond)
  }

  function requireFreeBond(solver: Address, amount: bigint): void {
    const unreserved = available(solver)
    const { unstakeAmount } = state.bondOf(solver)
    const free = unreserved > unstakeAmount ? unreserved - unstakeAmount : 0n
    if (amount > free) throw new Revert('InsufficientBond', [free, amount])
  }

  function useNonce(solver: Address, nonce: bigint): void {
    if (state.isNonceUsed(solver, nonce)) throw new Revert('NonceAlreadyUsed', [solver, nonce])
    state.markNonce(solver, nonce)
  }

  function verifySignature(quote: ServiceQuote, signature: Hex) {
    if (!state.isSigned(quote, signature)) throw new Revert('SignerNotSolver')
    return state.identify(quote, signature)
  }

  function acceptQuote(quote: ServiceQuote, signature: Hex, reached: number) {
    const { inputAmount, outputAmount, depositDeadline, fillDeadline } = quote
    if (inputAmount === 0n || outputAmount === 0n) throw new Revert('ZeroAmount')
    if (outputAmount < state.minOrder) throw new Revert('OrderBelowMinimum', [outputAmount, state.minOrder])
    if (quote.outputChainId !== BigInt(state.chainId))
      throw new Revert('WrongOutputChain', [quote.outputChainId])
    if (fillDeadline < depositDeadline)
      throw new Revert('FillDeadlineBeforeDepositDeadline', [depositDeadline, fillDeadline])
    const identified = verifySignature(quote, signature)
    const solver = lower(quote.solver)
    if (!state.bondOf(solver).registered) throw new Revert('SolverNotRegistered', [solver])
    useNonce(solver, quote.nonce)
    state.recordOrder(identified.orderId, quote, reached)
    return { ...identified, solver }
  }

  function pullExactly(token: Address, from: Address, amount: bigint): void {
    const received = state.pull(token, from, amount)
    if (received !== amount) throw new Revert('AmountNotReceived', [lower(token), received, amount])
  }

  function depositedOrder(orderId: Hex) {
    const order = state.order(orderId)
    if (order.state !== OrderState.DEPOSITED) throw new Revert('OrderNotDeposited', [orderId])
    return order
  }

  function slashMissedQuote(solver: Address, { nonce, outputAmount }: ServiceQuote): bigint {
    if (state.isNonceUsed(solver, nonce)) return 0n
    const slashed = min(bondFor(outputAmount), available(solver))
    state.setBond(solver, { totalBond: state.bondOf(solver).totalBond - slashed })
    return slashed
  }

  return {
    ...createBondRules(state, (from, amount) => pullExactly(state.bondToken.address, from, amount)),
    cancelNonce({ sender }, nonce) {
      useNonce(sender, nonce)
      emit('NonceCancelled', { solver: sender, nonce })
    },
    deposit({ sender, now }, quote, signature) {
      if (sender !== lower(quote.user)) throw new Revert('CallerNotUser', [sender])
      if (now > quote.depositDeadline) throw new Revert('DepositDeadlinePassed', [quote.depositDeadline])
      const { orderId, solver } = acceptQuote(quote, signature, OrderState.DEPOSITED)
      requireFreeBond(solver, bondFor(quote.outputAmount))
      state.setBond(solver, {
        reservedBond: state.bondOf(solver).reservedBond + bondFor(quote.outputAmount),
      })
      state.emitDeposited(orderId, quote)
      pullExactly(quote.inputToken, sender, quote.inputAmount)
    },
    fill({ sender, now }, orderId) {
      const order = depositedOrder(orderId)
      if (sender !== order.solver) throw new Revert('CallerNotSolver', [sender])
      if (now > order.fillDeadline) throw new Revert('FillDeadlinePassed', [order.fillDeadline])
      state.setOrder(orderId, { state: OrderState.SETTLED })
      const { reservedBond } = state.bondOf(sender)
      state.setBond(sender, { reservedBond: subtract(reservedBond, bondFor(order.outputAmount)) })
      emit('Settled', { orderId, user: order.user, solver: order.solver })
      state.token(order.outputToken).transferFrom(state.address, sender, order.user, order.outputAmount)
      state.pay(order.inputToken, sender, order.inputAmount)
    },
    settle({ now }, quote, signature) {
      if (now > quote.fillDeadline) throw new Revert('FillDeadlinePassed', [quote.fillDeadline])
      const { orderId, depositAddress, solver } = acceptQuote(quote, signature, OrderState.SETTLED)
      requireFreeBond(solver, bondFor(quote.outputAmount))
      emit('Settled', { orderId, user: quote.user, solver: quote.solver })
      const swept = state.sweep(depositAddress, quote.inputToken)
      if (swept < quote.inputAmount)
        throw new Revert('AmountNotReceived', [lower(quote.inputToken), swept, quote.inputAmount])
      const output = state.token(lower(quote.outputToken))
      output.transferFrom(state.address, solver, lower(quote.user), quote.outputAmount)
      state.pay(quote.inputToken, quote.solver, quote.inputAmount)
      if (swept > quote.inputAmount) state.pay(quote.inputToken, quote.user, swept - quote.inputAmount)
    },
    refund({ now }, orderId) {
      const order = depositedOrder(orderId)
      if (now <= order.fillDeadline) throw new Revert('FillDeadlineNotPassed', [order.fillDeadline])
      state.setOrder(orderId, { state: OrderState.REFUNDED })
      const bondSlashed = bondFor(order.outputAmount)
      const { reservedBond, totalBond } = state.bondOf(order.solver)
      state.setBond(order.solver, {
        reservedBond: subtract(reservedBond, bondSlashed),
        totalBond: subtract(totalBond, bondSlashed),
      })
      emit('Refunded', { orderId, user: order.user, inputAmount: order.inputAmount, bondSlashed })
      state.pay(order.inputToken, order.user, order.inputAmount)
      state.payBond(order.user, bondSlashed)
    },
    refundAddressDeposit({ now }, quote, signature) {
      if (now <= quote.fillDeadline) throw new Revert('FillDeadlineNotPassed', [quote.fillDeadline])
      const { orderId, depositAddress } = verifySignature(quote, signature)
      const swept = state.sweep(depositAddress, quote.inputToken)
      if (swept === 0n) throw new Revert('NothingDeposited', [orderId])
      if (state.order(orderId).state === OrderState.NONE) {
        const solver = lower(quote.solver)
        const bondSlashed = swept < quote.inputAmount ? 0n : slashMissedQuote(solver, quote)
        state.markNonce(solver, quote.nonce)
        state.recordOrder(orderId, quote, OrderState.REFUNDED)
        emit('Refunded', { orderId, user: quote.user, inputAmount: swept, bondSlashed })
        state.payBond(quote.user, bondSlashed)
      }
      state.pay(quote.inputToken, quote.user, swept)
    },
  }
}
