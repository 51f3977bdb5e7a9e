import {
  DEPOSIT_MODES,
  ORDER_TYPES,
  type Quote,
  type QuoteRequest,
} from '../../../protocol/src/quotes/quote.js'
import { parseAddress } from '../../../protocol/src/values/hex.js'
import { isIntegerOf, parseUint256 } from '../../../protocol/src/values/numbers.js'
import { instanceText } from './instance-text.js'

/** A request of an instance, by a session (docs/sessions.md) or at the endpoint. Addresses in lower case. */
export interface IncomingRequest extends QuoteRequest {
  /** The user pays at the deposit address, or the request does not say how. */
  readonly isForAddress: boolean
  /** Names the solver's own result at the instance, a UUID; undefined for the check of a registration. */
  readonly id: string | undefined
  /** When the instance stops waiting, Unix time in milliseconds. */
  readonly deadline: number
}

const KINDS = ['FIRM', 'INDICATIVE'] as const

/**
 * Reads a request of a session, or the like of an endpoint (docs/decisions.md, D4). Other instances of the protocol send no
 * `destinationChainId`, which then is the chain, and no `depositMode`, which then is CONTRACT.
 * @returns undefined when another field is missing, or has a value of a later version
 */
export function readRequest(fields: Readonly<Record<string, unknown>>): IncomingRequest | undefined {
  const { chainId, destinationChainId = chainId, depositMode = 'CONTRACT' } = fields
  const terms = {
    kind: KINDS.find((known) => known === fields.kind),
    inputToken: parseAddress(fields.inputToken),
    outputToken: parseAddress(fields.outputToken),
    orderType: ORDER_TYPES.find((known) => known === fields.orderType),
    amount: parseUint256(fields.amount),
    user: parseAddress(fields.userAddress),
    chainId: naturalOf(chainId),
    destinationChainId: naturalOf(destinationChainId),
    depositMode: DEPOSIT_MODES.find((known) => known === depositMode),
    depositDeadline: naturalOf(fields.depositDeadline),
    fillDeadline: naturalOf(fields.fillDeadline),
    deadline: naturalOf(fields.deadline),
    isForAddress: fields.depositMode !== 'CONTRACT',
  }
  if (Object.values(terms).includes(undefined)) return undefined
  const optional = {
    minDepositDeadline: naturalOf(fields.minDepositDeadline),
    id: instanceText(fields.id),
  }
  return { ...(terms as IncomingRequest), ...optional }
}

/** Builds what reads an integer within limits, both included. It returns undefined for another value. */
export const integerIn = (minimum: number, maximum: number) => (value: unknown) =>
  isIntegerOf({ minimum, maximum, mustBe: '' }, value) ? value : undefined

export const naturalOf = integerIn(0, Number.MAX_SAFE_INTEGER)

/** Writes a quote as an instance reads it (docs/decisions.md, D4): amounts and nonce in decimal, the order type by its number. */
export function toWireQuote(quote: Quote) {
  return {
    ...quote,
    inputAmount: String(quote.inputAmount),
    outputAmount: String(quote.outputAmount),
    orderType: ORDER_TYPES.indexOf(quote.orderType),
    nonce: String(quote.nonce),
  }
}
