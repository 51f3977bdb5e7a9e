import { type Address, getAddress } from 'viem'
import type { ChainParts } from '../chain/chain-parts.js'
import { type QuotedOrder, type SolverQuote, termsOf } from '../orders/order-terms.js'
import { isPrice, type LedgerQuote } from './quote-ledger.js'

/** What a solver has and has promised on a chain. Bonds are in the bond token's smallest unit. */
export interface Exposure {
  readonly chainId: number
  /** The native coin, in wei. Undefined, as all that the node says, before it has said so. */
  readonly coin: bigint | undefined
  readonly freeBond: bigint | undefined
  /** What quotes without a deposit can cost, prices included, and what is reserved for orders at the contract, or may be. */
  readonly openBond: bigint
  readonly orderBond: bigint
  readonly tokens: readonly TokenExposure[]
}

/** Of a token, in its smallest unit. Nobody is owed what prices promise, so they do not count. */
export interface TokenExposure {
  /** In EIP-55 form. */
  readonly token: Address
  /** What the contract can take: the lower one of balance and allowance. */
  readonly payable: bigint
  /** What goes and comes when all open quotes are taken. */
  readonly quotedOut: bigint
  readonly quotedIn: bigint
  /** What goes and comes for orders that are not paid yet. */
  readonly owedOut: bigint
  readonly owedIn: bigint
}

/** Sums up what a solver has and has promised on a chain. */
export function exposureOf({ chain: { chainId, tokens }, ledger, time }: ChainParts): Exposure {
  const held = ledger.holdings()
  const orders = ledger.quotes().filter(({ deposit }) => deposit !== 'NONE')
  const open = ledger.quotes().filter(({ deposit }) => deposit === 'NONE')
  const promised = open.filter(({ quote }) => !isPrice(quote) && time.passed() <= quote.fillDeadline)
  const bondOf = (quotes: readonly LedgerQuote[]) =>
    quotes.reduce((total, { quote }) => total + ledger.bondOf(quote), 0n)

  function exposure(token: Address): TokenExposure {
    const sum = (quotes: readonly LedgerQuote[], side: 'input' | 'output') =>
      quotes
        .filter(({ quote }) => quote[`${side}Token`] === token)
        .reduce((total, { quote }) => total + quote[`${side}Amount`], 0n)
    return {
      token: getAddress(token),
      payable: held?.payable.get(token) ?? 0n,
      quotedOut: sum(promised, 'output'),
      quotedIn: sum(promised, 'input'),
      owedOut: sum(orders, 'output'),
      owedIn: sum(orders, 'input'),
    }
  }

  return {
    chainId,
    coin: held?.gas.balance,
    freeBond: held?.freeBond,
    openBond: bondOf(open),
    orderBond: bondOf(orders),
    tokens: [...tokens.keys()].map(exposure),
  }
}

/** The quotes and prices of a chain that may still be taken, as far as is known. */
export function openQuotesOf({ ledger }: ChainParts): QuotedOrder[] {
  return ledger
    .quotes()
    .filter(({ deposit }) => deposit === 'NONE')
    .flatMap(({ signed }) => signed)
    .map(quotedOf)
}

/** The terms of a quote or a price that is signed. */
export function quotedOf(signed: SolverQuote): QuotedOrder {
  return { ...termsOf(signed), kind: isPrice(signed.quote) ? 'INDICATIVE' : 'FIRM' }
}
