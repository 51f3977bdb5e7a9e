import { ORDER_TYPES, type Quote } from '../../../packages/protocol/src/quotes/quote.js'
import { checkSignature } from '../../../packages/protocol/src/signing/signatures.js'
import type { QuoteHasher } from '../../../packages/protocol/src/signing/typed-data.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import { OrderState, type ServiceQuote } from '../chain/signed-quote.js'
import { type Journal, Revert } from './journal.js'
import type { TokenModel } from './token-model.js'

/** A solver's bond, in the order of the contract's `solvers`. */
export interface BondRecord {
  readonly totalBond: bigint
  readonly reservedBond: bigint
  readonly unstakeAmount: bigint
  readonly unstakeTimestamp: number
  readonly registered: boolean
}

/** An order, in the order of the contract's `orders`. Addresses in lower case. */
export interface OrderRecord {
  readonly user: Address
  readonly solver: Address
  readonly inputToken: Address
  readonly inputAmount: bigint
  readonly outputToken: Address
  readonly outputAmount: bigint
  readonly outputChainId: bigint
  readonly fillDeadline: number
  readonly state: number
}

/** Who calls, and the time of the block in Unix seconds. */
export interface CallContext {
  readonly sender: Address
  readonly now: number
}

export interface SettlementTerms {
  readonly address: Address
  readonly chainId: number
  readonly hasher: QuoteHasher
  readonly bondToken: TokenModel
  readonly minOrder: bigint
  /** The tokens of the chain. @throws Error for another address */
  readonly token: (address: Address) => TokenModel
}

const NO_BOND: BondRecord = {
  totalBond: 0n,
  reservedBond: 0n,
  unstakeAmount: 0n,
  unstakeTimestamp: 0,
  registered: false,
}
const ZERO: Address = '0x0000000000000000000000000000000000000000'
const NO_ORDER: OrderRecord = {
  user: ZERO,
  solver: ZERO,
  inputToken: ZERO,
  inputAmount: 0n,
  outputToken: ZERO,
  outputAmount: 0n,
  outputChainId: 0n,
  fillDeadline: 0,
  state: OrderState.NONE,
}
const BOND_BPS = 500n

export type SettlementState = ReturnType<typeof createSettlementState>

/** Builds the storage that both contracts share, and what both do in the same way. */
export function createSettlementState(journal: Journal, terms: SettlementTerms) {
  const { address, hasher, bondToken, token } = terms
  const bonds = new Map<Address, BondRecord>()
  const orders = new Map<Hex, OrderRecord>()
  const nonces = new Map<string, boolean>()
  /** Verified signatures by order id: a recovery takes time. */
  const signed = new Map<Hex, boolean>()

  const bondOf = (solver: Address) => bonds.get(solver) ?? NO_BOND
  const order = (orderId: Hex) => orders.get(orderId) ?? NO_ORDER

  /** @returns both hashes of a quote, the order id and the deposit address */
  function identify(quote: ServiceQuote, signature: Hex) {
    const hashed = hasher.hash(toQuote(quote))
    return { ...hashed, ...hasher.identify(hashed.structHash, toBytes(signature)) }
  }

  return {
    ...terms,
    bondOf,
    setBond(solver: Address, changes: Partial<BondRecord>): void {
      journal.set(bonds, solver, { ...bondOf(solver), ...changes })
    },
    order,
    setOrder(orderId: Hex, changes: Partial<OrderRecord>): void {
      journal.set(orders, orderId, { ...order(orderId), ...changes })
    },
    isNonceUsed: (solver: Address, nonce: bigint) => nonces.has(`${solver} ${nonce}`),
    markNonce: (solver: Address, nonce: bigint) => journal.set(nonces, `${solver} ${nonce}`, true),
    identify,
    isSigned(quote: ServiceQuote, signature: Hex): boolean {
      const { digest, orderId } = identify(quote, signature)
      const known = signed.get(orderId)
      if (known !== undefined) return known
      const isValid = checkSignature(digest, toBytes(signature), lowerCase(quote.solver)) === undefined
      signed.set(orderId, isValid)
      return isValid
    },
    recordOrder(orderId: Hex, quote: ServiceQuote, state: number): void {
      const { inputAmount, outputAmount, outputChainId, fillDeadline } = quote
      journal.set(orders, orderId, {
        user: lowerCase(quote.user),
        solver: lowerCase(quote.solver),
        inputToken: lowerCase(quote.inputToken),
        inputAmount,
        outputToken: lowerCase(quote.outputToken),
        outputAmount,
        outputChainId,
        fillDeadline,
        state,
      })
    },
    bondFor: (outputAmount: bigint) => (outputAmount * BOND_BPS) / 10_000n,
    /** Empties a deposit address into the contract. @returns what arrived */
    sweep(depositAddress: Address, tokenAddress: Address): bigint {
      const swept = token(tokenAddress)
      const before = swept.balanceOf(address)
      swept.transfer(depositAddress, address, swept.balanceOf(depositAddress))
      return swept.balanceOf(address) - before
    },
    /** Pays from the contract. */
    pay: (tokenAddress: Address, to: Address, amount: bigint) =>
      token(tokenAddress).transfer(address, lowerCase(to), amount),
    /** @returns what arrived */
    pull(tokenAddress: Address, from: Address, amount: bigint): bigint {
      const pulled = token(tokenAddress)
      const before = pulled.balanceOf(address)
      pulled.transferFrom(address, from, address, amount)
      return pulled.balanceOf(address) - before
    },
    payBond: (to: Address, amount: bigint) => bondToken.transfer(address, lowerCase(to), amount),
    emit: (eventName: string, args: Record<string, unknown>) => journal.emit({ address, eventName, args }),
    emitDeposited(orderId: Hex, quote: ServiceQuote): void {
      const { user, solver, inputToken, inputAmount, outputToken, outputAmount, fillDeadline } = quote
      const args = { orderId, user, solver, inputToken, inputAmount, outputToken, outputAmount, fillDeadline }
      journal.emit({ address, eventName: 'Deposited', args })
    },
  }
}

/** What an unchecked subtraction of Solidity gives. @throws Revert with an underflow */
export function subtract(from: bigint, amount: bigint): bigint {
  if (amount > from) throw new Revert('Panic', [17n])
  return from - amount
}

export const min = (one: bigint, other: bigint) => (one < other ? one : other)
const toBytes = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')

/** A quote of the contract as the service has it. */
export function toQuote(quote: ServiceQuote): Quote {
  const orderType = ORDER_TYPES[quote.orderType]
  if (orderType === undefined) throw new Error(`the model has no order type ${quote.orderType}`)
  return {
    ...quote,
    solver: lowerCase(quote.solver),
    user: lowerCase(quote.user),
    inputToken: lowerCase(quote.inputToken),
    outputToken: lowerCase(quote.outputToken),
    orderType,
    outputChainId: Number(quote.outputChainId),
  }
}
