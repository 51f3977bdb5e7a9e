/** What an account has for the gas of a chain. */
export interface GasFunds {
  /** In the native coin, wei. */
  readonly balance: bigint
  /** What a transaction pays at most at present, in wei for a unit of gas. */
  readonly maxFeePerGas: bigint
}

/** What is open on a chain, with the quote that is asked for. */
export interface EndingLoad {
  /** The quotes that are cancelled unless somebody takes them. Each may need a transaction of its own. */
  readonly quotes: number
  /** Open quotes and orders: each may have to be paid, or ended, and all may be due at once. */
  readonly payments: number
  /** The shortest fill window among them. */
  readonly fillSeconds: number
}

/** What there is to end it with. */
export interface EndingMeans {
  readonly gas: GasFunds
  /** What one cancellation may cost at present, in wei. */
  readonly cancellationCost: bigint
  /** What cancellations may still cost in this hour, in wei. */
  readonly feesLeft: bigint
  /** Seconds from one block with transactions of the account to the next one, at most. */
  readonly roundSeconds: number
  /** Transactions that are sent in a round. */
  readonly atOnce: number
}

/** Of `settle`, with the margin of its limit. */
const PAYMENT_GAS = 520_000n
/** Fees may rise until a quote is over. */
const FEES_MAY_RISE = 2n

/**
 * Says what would be missing to end all that is open, before a further quote is signed: a quote that cannot be ended is a slash for
 * anybody who asked for it (docs/decisions.md, D23).
 * @returns `FEES` when the budget of the hour is too low, `BALANCE` when the account is, `TIME` when one fill window is too short
 */
export function endingShortage(
  load: EndingLoad,
  means: EndingMeans,
): 'FEES' | 'BALANCE' | 'TIME' | undefined {
  const fees = BigInt(load.quotes) * FEES_MAY_RISE * means.cancellationCost
  if (fees > means.feesLeft) return 'FEES'
  const payments = BigInt(load.payments) * PAYMENT_GAS * means.gas.maxFeePerGas
  if (means.gas.balance < fees + payments) return 'BALANCE'
  // The first block after the deposit deadline only shows that it has passed.
  const rounds = Math.floor(load.fillSeconds / means.roundSeconds) - 1
  return load.payments > rounds * means.atOnce ? 'TIME' : undefined
}
