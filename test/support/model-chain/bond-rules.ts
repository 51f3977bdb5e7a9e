import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { Revert } from './journal.js'
import { type CallContext, MIN_BOND, min, type SettlementState, subtract } from './settlement-state.js'

const UNSTAKE_DELAY_SECONDS = 7 * 24 * 60 * 60

/** The rules of bonds of the reference contract (packages/cli/contracts/SolverBonds.sol). */
export function createBondRules(state: SettlementState, pullBond: (from: Address, amount: bigint) => void) {
  const { emit, bondOf, setBond } = state

  function add(eventName: string, solver: Address, amount: bigint): void {
    setBond(solver, { registered: true, totalBond: bondOf(solver).totalBond + amount })
    emit(eventName, { solver, amount })
    pullBond(solver, amount)
  }

  function requireRegistered(solver: Address): void {
    if (!bondOf(solver).registered) throw new Revert('SolverNotRegistered', [solver])
  }

  /** @returns what was requested */
  function clearUnstake(solver: Address): bigint {
    const { unstakeAmount } = bondOf(solver)
    if (unstakeAmount === 0n) throw new Revert('NoUnstakeRequested')
    setBond(solver, { unstakeAmount: 0n, unstakeTimestamp: 0 })
    return unstakeAmount
  }

  return {
    registerSolver({ sender }: CallContext, amount: bigint): void {
      if (bondOf(sender).registered) throw new Revert('SolverAlreadyRegistered', [sender])
      if (amount < MIN_BOND) throw new Revert('BondBelowMinimum', [amount])
      add('SolverRegistered', sender, amount)
    },
    addBond({ sender }: CallContext, amount: bigint): void {
      if (amount === 0n) throw new Revert('ZeroAmount')
      requireRegistered(sender)
      add('BondAdded', sender, amount)
    },
    requestUnstake({ sender, now }: CallContext, amount: bigint): void {
      if (amount === 0n) throw new Revert('ZeroAmount')
      requireRegistered(sender)
      const { unstakeAmount, totalBond, reservedBond } = bondOf(sender)
      if (unstakeAmount !== 0n) throw new Revert('UnstakeAlreadyRequested')
      const available = subtract(totalBond, reservedBond)
      if (amount > available) throw new Revert('InsufficientBond', [available, amount])
      const unlockTime = now + UNSTAKE_DELAY_SECONDS
      setBond(sender, { unstakeAmount: amount, unstakeTimestamp: unlockTime })
      emit('UnstakeRequested', { solver: sender, amount, unlockTime })
    },
    cancelUnstake({ sender }: CallContext): void {
      clearUnstake(sender)
      emit('UnstakeCancelled', { solver: sender })
    },
    executeUnstake({ sender, now }: CallContext): void {
      const { unstakeTimestamp, totalBond, reservedBond } = bondOf(sender)
      if (now < unstakeTimestamp) throw new Revert('UnstakeLocked', [unstakeTimestamp])
      const amount = min(clearUnstake(sender), subtract(totalBond, reservedBond))
      setBond(sender, { totalBond: totalBond - amount, registered: totalBond !== amount })
      emit('UnstakeExecuted', { solver: sender, amount })
      state.payBond(sender, amount)
    },
  }
}
