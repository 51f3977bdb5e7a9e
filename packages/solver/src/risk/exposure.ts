import { type Address, getAddress } from 'viem'
import type { ChainParts } from '../chain/chain-parts.js'
import { type QuotedOrder, type SolverQuote, termsOf } from '../orders/order-terms.js'
import { isPrice, type LedgerQuote } from './quote-ledger.js'

/** What a solver has and has promised on a chain. Bonds are in the bond token's smallest unit. */
export type Exposure = ReturnType<typeof exposureOf>
/** Of a token, in its smallest unit. Nobody is owed what prices promise, so they do not count. */
export type TokenExposure = Exposure['tokens'][number]

/** Sums up what a solver has and has promised on a chain. */
export function exposureOf({ chain: { chainId, tokens }, ledger, time }: ChainParts) {
  const held = ledger.holdings()
  const orders = ledger.quotes().filter(({ deposit }) => deposit !== 'NONE')
  const open = ledger.quotes().filter(({ deposit }) => deposit === 'NONE')
  const promised = open.filter(({ quote }) => !isPrice(quote) && time.passed() <= quote.fillDeadline)
  const bondOf = (quotes: readonly LedgerQuote[]) =>
    quotes.reduce((total, { quote }) => total + ledger.bondOf(quote), 0n)
  const sum = (quotes: readonly LedgerQuote[], side: 'input' | 'output', token: Address) =>
    quotes
      .filter(({ quote }) => quote[`${side}Token`] === token)
      .reduce((total, { quote }) => total + quote[`${side}Amount`], 0n)

  return {
    chainId,
    /** The native coin, in wei. Undefined, as all that the node says, before it has said so. */
    coin: held?.gas.balance,
    freeBond: held?.freeBond,
    /** What quotes without a deposit can cost, prices included, and what is reserved for orders at the contract, or may be. */
    openBond: bondOf(open),
    orderBond: bondOf(orders),
    tokens: [...tokens.keys()].map((token) => ({
      /** In EIP-55 form. */
      token: getAddress(token),
      /** What the contract can take: the lower one of balance and allowance. */
      payable: held?.payable.get(token) ?? 0n,
      /** What goes and comes when all open quotes are taken. */
      quotedOut: sum(promised, 'output', token),
      quotedIn: sum(promised, 'input', token),
      /** What goes and comes for orders that are not paid yet. */
      owedOut: sum(orders, 'output', token),
      owedIn: sum(orders, 'input', token),
    })),
  }
}

/** The quotes and prices of a chain that may still be taken, as far as is known. */
export function openQuotesOf({ ledger }: ChainParts): QuotedOrder[] {
  const open = ledger.quotes().filter(({ deposit }) => deposit === 'NONE')
  return open.flatMap(({ signed }) => signed.map(quotedOf))
}

/** The terms of a quote or a price that is signed. */
export function quotedOf(signed: SolverQuote): QuotedOrder {
  return { ...termsOf(signed), kind: isPrice(signed.quote) ? 'INDICATIVE' : 'FIRM' }
}
