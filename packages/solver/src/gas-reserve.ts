/** What an account has for the gas of a chain. */
export interface GasFunds {
  /** In the native coin, wei. */
  readonly balance: bigint
  /** What a transaction pays at most at present, in wei for a unit of gas. */
  readonly maxFeePerGas: bigint
}

const PAYMENT_GAS = 300_000n
/** One transaction that cancels the nonce of one quote. */
const CANCELLATION_GAS = 50_000n

/**
 * Whether an account could not pay for its promises: one payment, and the cancellations of its open quotes, as far as an hour allows
 * them (docs/decisions.md, D23).
 * @param maxCancelFees in wei
 */
export function lacksGas(
  { balance, maxFeePerGas }: GasFunds,
  openQuotes: number,
  maxCancelFees: bigint,
): boolean {
  const cancellations = BigInt(openQuotes) * CANCELLATION_GAS * maxFeePerGas
  const allowed = cancellations < maxCancelFees ? cancellations : maxCancelFees
  return balance < PAYMENT_GAS * maxFeePerGas + allowed
}
