import type { Quote, QuoteKind, QuoteRequest } from '../quotes/quote.js'
import type { QuoteParameters } from '../quotes/quote-record.js'
import { type Address, lowerCase } from '../values/hex.js'
import { toCachedChecksumAddress } from './typed-data.js'

/** Time for the user's deposit and for the solver's fill. */
interface QuoteWindows {
  readonly depositWindowSeconds: number
  readonly fillWindowSeconds: number
  /** The shortest time for the deposit that an offer may have; the whole deposit window when left out. */
  readonly minDepositWindowSeconds?: number | undefined
}

/**
 * The deadlines of a quote (docs/decisions.md, D4, D32).
 * @param nowMs time of the request, Unix time in milliseconds
 * @returns Unix times in seconds; `minDepositDeadline` only when an offer may be earlier
 */
export function deadlines(
  nowMs: number,
  {
    depositWindowSeconds: window,
    fillWindowSeconds,
    minDepositWindowSeconds: shortest = window,
  }: QuoteWindows,
): Pick<QuoteRequest, 'depositDeadline' | 'fillDeadline' | 'minDepositDeadline'> {
  const nowSeconds = Math.floor(nowMs / 1000)
  const depositDeadline = nowSeconds + window
  const times = { depositDeadline, fillDeadline: depositDeadline + fillWindowSeconds }
  return shortest < window ? { ...times, minDepositDeadline: nowSeconds + shortest } : times
}

/** An offer that is earlier than asked has at least so much left at the answer, in milliseconds (docs/decisions.md, D32). */
const LEAST_LEFT_MS = 20_000

/**
 * Whether an offer is earlier than asked, and leaves too little time at the answer.
 * @param nowMs Unix time in milliseconds
 */
export function isTooShort(
  { depositDeadline: asked }: QuoteRequest,
  { depositDeadline }: Quote,
  nowMs: number,
) {
  return depositDeadline < asked && depositDeadline * 1000 - nowMs < LEAST_LEFT_MS
}

/** The request as solvers get it, in the wire format of deployed ones (docs/decisions.md, D4). Addresses in EIP-55 form. */
export interface SolverRequestBody extends Omit<QuoteParameters, 'user'> {
  readonly userAddress: Address
  readonly chainId: number
}

/** Writes the request for solvers, and for readers of its record: each of its fields. JSON leaves out those that are undefined. */
export function toRequestBody({
  kind: _,
  inputToken,
  outputToken,
  orderType,
  amount,
  user,
  ...others
}: QuoteRequest | RecordedRequest): SolverRequestBody {
  return {
    inputToken: toCachedChecksumAddress(inputToken),
    outputToken: toCachedChecksumAddress(outputToken),
    orderType,
    amount: amount.toString(),
    userAddress: toCachedChecksumAddress(user),
    ...others,
  }
}

type RecordedRequest = QuoteParameters & { readonly chainId: number; readonly kind?: never }

/** The request that a body was written for. */
export function toQuoteRequest(body: SolverRequestBody, kind: QuoteKind): QuoteRequest {
  const { userAddress, amount, inputToken, outputToken, ...rest } = body
  return {
    ...rest,
    kind,
    inputToken: lowerCase(inputToken),
    outputToken: lowerCase(outputToken),
    user: lowerCase(userAddress),
    amount: BigInt(amount),
  }
}
