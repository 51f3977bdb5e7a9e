import type { Address } from 'viem'
import { openSqliteFile } from '../../sqlite/src/sqlite.js'
import type { FilledOrder, MinedTransaction, MissedOrder, OrderTerms } from './orders/order-terms.js'
import { type BookEntry, fromText, VERSION } from './state.js'

/** What was told, with the chain's time when it was seen, Unix seconds. */
type Seen<T> = T & { readonly time: number }

/** The books of a solver between two times, each with the oldest first, and what they sum up to. */
export type Statement = ReturnType<typeof readStatement>
/** Of a pair: trades with what they have brought and cost, missed orders with what was taken from the bond, and cancelled quotes. */
export type PairSum = ReturnType<typeof newPair>
/** What trades have brought and taken of a token. */
export type TokenSum = ReturnType<typeof newToken>
/** What transactions have cost, in wei. */
export type FeeSum = ReturnType<typeof newFee>

const newPair = ({ chainId, inputToken, outputToken }: OrderTerms) => ({
  chainId,
  inputToken,
  outputToken,
  trades: 0,
  inputAmount: 0n,
  outputAmount: 0n,
  missed: 0,
  cost: 0n,
  cancelled: 0,
})
const newToken = (chainId: number, token: Address) => ({ chainId, token, received: 0n, paid: 0n })
const newFee = ({ chainId, purpose }: MinedTransaction) => ({
  chainId,
  purpose,
  transactions: 0,
  reverted: 0,
  gasCost: 0n,
})

/**
 * Reads the books of a state file, also while its solver runs.
 * @param from Unix seconds, the first one
 * @param to Unix seconds, the first one that is not read
 * @throws SqliteMissingError, SQLite's error, and Error for a file of another version
 */
export function readStatement(path: string, from: number, to: number) {
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
    const trades = read<FilledOrder>('FILLED')
    const missed = read<MissedOrder>('MISSED')
    const cancelled = read<OrderTerms>('CANCELLED')
    const transactions = read<MinedTransaction>('TRANSACTION')
    return { trades, missed, cancelled, transactions, ...sumsOf(trades, missed, cancelled, transactions) }
  } finally {
    file.close()
  }
}

function sumsOf(
  trades: readonly FilledOrder[],
  missed: readonly MissedOrder[],
  cancelled: readonly OrderTerms[],
  transactions: readonly MinedTransaction[],
) {
  const pairs = new Map<string, PairSum>()
  const tokens = new Map<string, TokenSum>()
  const fees = new Map<string, FeeSum>()
  for (const trade of trades) {
    const { chainId, inputToken, inputAmount, outputToken, outputAmount } = trade
    const pair = sumIn(pairs, newPair(trade))
    pair.trades++
    pair.inputAmount += inputAmount
    pair.outputAmount += outputAmount
    sumIn(tokens, newToken(chainId, inputToken)).received += inputAmount
    sumIn(tokens, newToken(chainId, outputToken)).paid += outputAmount
  }
  for (const order of missed) {
    const pair = sumIn(pairs, newPair(order))
    pair.missed++
    pair.cost += order.cost
  }
  for (const quote of cancelled) sumIn(pairs, newPair(quote)).cancelled++
  for (const transaction of transactions) {
    const fee = sumIn(fees, newFee(transaction))
    fee.transactions++
    fee.reverted += Number(transaction.isReverted)
    fee.gasCost += transaction.gasCost
  }
  return { pairs: [...pairs.values()], tokens: [...tokens.values()], fees: [...fees.values()] }
}

/** The sum that began with the same key and nothing. */
function sumIn<S extends object>(sums: Map<string, S>, nothing: S): S {
  const key = Object.values(nothing).join(' ')
  const sum = sums.get(key) ?? nothing
  sums.set(key, sum)
  return sum
}
