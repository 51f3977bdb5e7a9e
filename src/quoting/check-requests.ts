import { deadlines, NO_USER, type QuoteRequest } from '../domain/quotes/quote.js'

/** Creates the requests that check registered endpoints. */
export interface CheckRequests {
  /** @returns the request of a check, and whether the tokens of its swap do not exist */
  create(chainId: number): { readonly request: QuoteRequest; readonly isMadeUp: boolean }
  /** Stores the pair of a request with a valid offer. The next check on its chain requests the same pair. */
  noteQuoted(request: QuoteRequest): void
}

interface CheckRequestsOptions {
  readonly defaultDepositWindowSeconds: number
  readonly defaultFillWindowSeconds: number
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** The fields of a request that later checks on its chain repeat. */
type Swap = Pick<QuoteRequest, 'inputToken' | 'outputToken' | 'orderType' | 'amount'>

/** A swap of tokens that do not exist: the addresses are precompiled contracts. */
const MADE_UP_SWAP: Swap = {
  inputToken: '0x0000000000000000000000000000000000000001',
  outputToken: '0x0000000000000000000000000000000000000002',
  orderType: 'EXACT_INPUT',
  amount: 10n ** 18n,
}

/** Builds the requests. Until a chain has its first quoted request, they are for tokens that do not exist. */
export function createCheckRequests(options: CheckRequestsOptions): CheckRequests {
  const lastSwaps = new Map<number, Swap>()
  const windows = {
    depositWindowSeconds: options.defaultDepositWindowSeconds,
    fillWindowSeconds: options.defaultFillWindowSeconds,
  }

  return {
    create(chainId) {
      const swap = lastSwaps.get(chainId)
      const request: QuoteRequest = {
        ...(swap ?? MADE_UP_SWAP),
        kind: 'INDICATIVE',
        chainId,
        user: NO_USER,
        destinationChainId: chainId,
        depositMode: 'CONTRACT',
        ...deadlines(options.now(), windows),
      }
      return { request, isMadeUp: swap === undefined }
    },
    noteQuoted({ chainId, inputToken, outputToken, orderType, amount }) {
      lastSwaps.set(chainId, { inputToken, outputToken, orderType, amount: firstDigitOf(amount) })
    },
  }
}

/** Replaces all digits after the first with zeros, so that a new solver does not learn the exact amount of a user. */
function firstDigitOf(amount: bigint): bigint {
  const digits = amount.toString()
  return BigInt(digits.charAt(0).padEnd(digits.length, '0'))
}
