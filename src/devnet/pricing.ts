import { type Address, maxUint256 } from 'viem'
import type { OrderType } from '../domain/quotes/quote.js'

/** A token that a reference solver trades. */
export interface TradedToken {
  readonly address: Address
  readonly decimals: number
  /** Price of one whole token in millionths of a dollar. */
  readonly priceMicros: bigint
}

/** The parameters of a price: the amount of the fixed side is in its token's smallest unit. */
export interface PriceRequest {
  readonly inputToken: string
  readonly outputToken: string
  readonly orderType: OrderType
  readonly amount: bigint
}

const BASIS_POINTS = 10_000n

/**
 * Prices a swap from a table of token prices, rounded in the solver's favour.
 * @param spreadBps the solver's profit, in hundredths of a percent
 * @returns both amounts in the tokens' smallest units; undefined when a token is not traded, nothing is left,
 * or an amount is above 2^256-1
 */
export function price(tokens: readonly TradedToken[], spreadBps: bigint, request: PriceRequest) {
  const input = find(tokens, request.inputToken)
  const output = find(tokens, request.outputToken)
  if (input === undefined || output === undefined) return undefined

  const inputWorth = input.priceMicros * 10n ** BigInt(output.decimals) * (BASIS_POINTS - spreadBps)
  const outputWorth = output.priceMicros * 10n ** BigInt(input.decimals) * BASIS_POINTS
  const isExactInput = request.orderType === 'EXACT_INPUT'
  const inputAmount = isExactInput ? request.amount : divideUp(request.amount * outputWorth, inputWorth)
  const outputAmount = isExactInput ? (request.amount * inputWorth) / outputWorth : request.amount
  return isAmount(inputAmount) && isAmount(outputAmount) ? { inputAmount, outputAmount } : undefined
}

function find(tokens: readonly TradedToken[], address: string): TradedToken | undefined {
  return tokens.find((token) => token.address.toLowerCase() === address.toLowerCase())
}

function isAmount(value: bigint): boolean {
  return value > 0n && value <= maxUint256
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
