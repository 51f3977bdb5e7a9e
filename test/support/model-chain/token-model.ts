import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { type Journal, Revert } from './journal.js'

/** A token of OpenZeppelin's ERC20, of which each transfer may burn a part. Addresses in lower case. */
export interface TokenModel {
  readonly address: Address
  balanceOf(owner: Address): bigint
  allowance(owner: Address, spender: Address): bigint
  mint(to: Address, amount: bigint): void
  /** From now on, transfers to this owner revert; or each call, when left out. */
  refuse(owner?: Address): void
  approve(owner: Address, spender: Address, amount: bigint): void
  /** @throws Revert */
  transfer(from: Address, to: Address, amount: bigint): void
  /** @throws Revert */
  transferFrom(spender: Address, from: Address, to: Address, amount: bigint): void
}

const UNLIMITED = 2n ** 256n - 1n
const NOBODY: Address = '0x0000000000000000000000000000000000000000'

/** Builds a token without owners. @param feePercent the part of a transfer that is burned */
export function createToken(journal: Journal, address: Address, feePercent = 0n): TokenModel {
  const balances = new Map<Address, bigint>()
  const allowances = new Map<string, bigint>()
  const refused = new Set<Address>()
  let isBroken = false
  function balanceOf(owner: Address): bigint {
    if (isBroken) throw new Revert('')
    return balances.get(owner) ?? 0n
  }
  const allowance = (owner: Address, spender: Address) => allowances.get(`${owner} ${spender}`) ?? 0n
  const setAllowance = (owner: Address, spender: Address, amount: bigint) =>
    journal.set(allowances, `${owner} ${spender}`, amount)
  const emitTransfer = (from: Address, to: Address, value: bigint) =>
    journal.emit({ address, eventName: 'Transfer', args: { from, to, value } })

  function move(from: Address, to: Address, amount: bigint): void {
    const balance = balanceOf(from)
    if (refused.has(to)) throw new Revert('')
    if (balance < amount) throw new Revert('ERC20InsufficientBalance', [from, balance, amount])
    journal.set(balances, from, balance - amount)
    if (to !== NOBODY) journal.set(balances, to, balanceOf(to) + amount)
    emitTransfer(from, to, amount)
  }

  function transfer(from: Address, to: Address, amount: bigint): void {
    const fee = (amount * feePercent) / 100n
    move(from, to, amount - fee)
    if (fee > 0n) move(from, NOBODY, fee)
  }

  return {
    address,
    balanceOf,
    allowance,
    refuse(owner) {
      if (owner === undefined) isBroken = true
      else refused.add(owner)
    },
    mint(to, amount) {
      journal.set(balances, to, balanceOf(to) + amount)
      emitTransfer(NOBODY, to, amount)
    },
    approve(owner, spender, value) {
      setAllowance(owner, spender, value)
      journal.emit({ address, eventName: 'Approval', args: { owner, spender, value } })
    },
    transfer,
    transferFrom(spender, from, to, amount) {
      const allowed = allowance(from, spender)
      if (allowed < amount) throw new Revert('ERC20InsufficientAllowance', [spender, allowed, amount])
      if (allowed !== UNLIMITED) setAllowance(from, spender, allowed - amount)
      transfer(from, to, amount)
    },
  }
}
