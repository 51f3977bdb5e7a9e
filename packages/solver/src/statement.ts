import type { Address } from 'viem'
import { openSqliteFile } from '../../sqlite/src/sqlite.js'
import type { FilledOrder, MissedOrder, OrderTerms } from './orders/order-terms.js'
import type { MinedTransaction } from './solver-options.js'
import { type BookEntry, fromText, VERSION } from './state.js'

/** What was told, with the chain's time when it was seen, Unix seconds. */
type Seen<T> = T & { readonly time: number }

/** The books of a solver between two times, each with the oldest first, and what they sum up to. */
export interface Statement {
  readonly trades: readonly Seen<FilledOrder>[]
  readonly missed: readonly Seen<MissedOrder>[]
  readonly cancelled: readonly Seen<OrderTerms>[]
  readonly transactions: readonly Seen<MinedTransaction>[]
  readonly pairs: readonly PairSum[]
  readonly tokens: readonly TokenSum[]
  readonly fees: readonly FeeSum[]
}

/** Of a pair: trades with what they have brought and cost, missed orders with what was taken from the bond, and cancelled quotes. */
export interface PairSum extends Pick<OrderTerms, 'chainId' | 'inputToken' | 'outputToken'> {
  trades: number
  inputAmount: bigint
  outputAmount: bigint
  missed: number
  cost: bigint
  cancelled: number
}

/** What trades have brought and taken of a token. */
export interface TokenSum {
  readonly chainId: number
  readonly token: Address
  received: bigint
  paid: bigint
}

/** What transactions have cost, in wei. */
export interface FeeSum extends Pick<MinedTransaction, 'chainId' | 'purpose'> {
  transactions: number
  reverted: number
  gasCost: bigint
}

/**
 * Reads the books of a state file, also while its solver runs.
 * @param from Unix seconds, the first one
 * @param to Unix seconds, the first one that is not read
 * @throws SqliteMissingError, SQLite's error, and Error for a file of another version
 */
export function readStatement(path: string, from: number, to: number): Statement {
  const file = openSqliteFile(path, { readonly: true, fileMustExist: true })
  try {
    const version = file.pragma('user_version', { simple: true })
    if (version !== VERSION) throw new Error(`it is of version ${version}, and not ${VERSION}`)
    const read = <T>(kind: BookEntry['kind']) =>
      file
        .prepare<[string, number, number], BookEntry>(
          'SELECT * FROM books WHERE kind = ? AND time >= ? AND time < ? ORDER BY time, id',
        )
        .all(kind, from, to)
        .map((row): Seen<T> => ({ time: row.time, ...fromText<T>(row.entry) }))
    return withSums({
      trades: read<FilledOrder>('FILLED'),
      missed: read<MissedOrder>('MISSED'),
      cancelled: read<OrderTerms>('CANCELLED'),
      transactions: read<MinedTransaction>('TRANSACTION'),
    })
  } finally {
    file.close()
  }
}

function withSums(books: Omit<Statement, 'pairs' | 'tokens' | 'fees'>): Statement {
  const pairs = new Map<string, PairSum>()
  const tokens = new Map<string, TokenSum>()
  const fees = new Map<string, FeeSum>()
  const pairOf = ({ chainId, inputToken, outputToken }: OrderTerms) => {
    const nothing = { trades: 0, inputAmount: 0n, outputAmount: 0n, missed: 0, cost: 0n, cancelled: 0 }
    return sumIn(pairs, { chainId, inputToken, outputToken }, nothing)
  }
  for (const trade of books.trades) {
    const { chainId, inputToken, inputAmount, outputToken, outputAmount } = trade
    const pair = pairOf(trade)
    pair.trades++
    pair.inputAmount += inputAmount
    pair.outputAmount += outputAmount
    sumIn(tokens, { chainId, token: inputToken }, { received: 0n, paid: 0n }).received += inputAmount
    sumIn(tokens, { chainId, token: outputToken }, { received: 0n, paid: 0n }).paid += outputAmount
  }
  for (const missed of books.missed) {
    const pair = pairOf(missed)
    pair.missed++
    pair.cost += missed.cost
  }
  for (const quote of books.cancelled) pairOf(quote).cancelled++
  for (const { chainId, purpose, isReverted, gasCost } of books.transactions) {
    const sum = sumIn(fees, { chainId, purpose }, { transactions: 0, reverted: 0, gasCost: 0n })
    sum.transactions++
    sum.reverted += Number(isReverted)
    sum.gasCost += gasCost
  }
  return { ...books, pairs: [...pairs.values()], tokens: [...tokens.values()], fees: [...fees.values()] }
}

/** The sum of a key, which begins with nothing. */
function sumIn<K extends object, S>(sums: Map<string, K & S>, key: K, nothing: S): K & S {
  const name = Object.values(key).join(' ')
  const sum = sums.get(name) ?? { ...key, ...nothing }
  sums.set(name, sum)
  return sum
}
