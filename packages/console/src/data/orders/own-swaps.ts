import { create, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf'
import { signal } from '@preact/signals'
import type { DepositProgress } from '@quote-aggregator/client'
import { type SignedQuote, SignedQuoteSchema } from '../../../../../gen/aggregator/v1/quote_pb.js'
import type { Offer } from '../auction/auction.js'

/** A swap that was made in this browser: only here, its order is known to come from this quote. */
export interface OwnSwap {
  readonly chainId: number
  readonly orderId: string
  readonly quoteId: string
  /** As ProtoJSON. The contract returns tokens at a deposit address for the quote with its signature. */
  readonly signedQuote?: JsonValue
  /** Whether the user deposits with the contract; to the deposit address otherwise. */
  readonly isContract?: boolean
  /** Whether tokens may be on their way: the wallet was asked for the deposit, or the deposit address was shown. */
  readonly isBegun?: boolean
  /** How far the check through the user's wallet has come; absent before its beginning, as without a wallet. */
  readonly check?: 'begun' | 'passed' | 'failed'
  /** What the wallet was asked for last. */
  readonly progress?: DepositProgress | undefined
}

/** Whether the wallet was asked for the deposit, and may have sent it: it is followed then, and not asked for again. */
export const isDepositBegun = (swap: Pick<OwnSwap, 'progress'> | undefined) =>
  swap?.progress?.step === 'deposit' && swap.progress.state !== 'refused'

const STORAGE_KEY = 'swaps'
const MAX_SWAPS = 100

/** The swaps of this browser, the last one first. Other tabs add to them. */
export const ownSwaps = signal<readonly OwnSwap[]>(stored())
addEventListener('storage', ({ key }) => {
  if (key === STORAGE_KEY) ownSwaps.value = stored()
})

/** Keeps a swap, or what has changed of it. */
export function rememberSwap(swap: OwnSwap): void {
  const others = stored().filter(({ orderId }) => orderId !== swap.orderId)
  ownSwaps.value = withoutOldest([swap, ...others])
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(ownSwaps.value))
  } catch {}
}

/** Swaps by address come first: a refund needs their signed quotes. */
function withoutOldest(swaps: OwnSwap[]): OwnSwap[] {
  while (swaps.length > MAX_SWAPS) {
    const oldest = swaps.findLastIndex(({ isContract }) => isContract)
    swaps.splice(oldest > 0 ? oldest : swaps.length - 1, 1)
  }
  return swaps
}

/** Keeps what has changed of a swap of this browser. */
export function changeSwap(orderId: string, changes: (swap: OwnSwap) => Partial<OwnSwap>): void {
  const swap = ownSwaps.value.find((one) => one.orderId === orderId)
  if (swap !== undefined) rememberSwap({ ...swap, ...changes(swap) })
}

/**
 * A swap that was made in this browser on this chain. On another chain, its deposit address is not the order's.
 * @returns undefined for any other order
 */
export function ownSwap(chainId: bigint, orderId: string): OwnSwap | undefined {
  return ownSwaps.value.find((swap) => swap.orderId === orderId && BigInt(swap.chainId) === chainId)
}

/** An offer as storage keeps it. */
export function toStoredQuote(offer: Offer): JsonValue {
  const { quote, solverSignature, depositAddress, orderId } = offer
  return toJson(
    SignedQuoteSchema,
    create(SignedQuoteSchema, {
      ...(quote && { quote }),
      solverSignature,
      depositAddress,
      orderId,
    }),
  )
}

/** The offer of a swap. @returns undefined when storage has something else */
export function storedQuote({ signedQuote }: OwnSwap): SignedQuote | undefined {
  try {
    if (signedQuote === undefined) return undefined
    return fromJson(SignedQuoteSchema, signedQuote, { ignoreUnknownFields: true })
  } catch {
    return undefined
  }
}

function stored(): OwnSwap[] {
  try {
    const swaps = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]')
    return Array.isArray(swaps) ? swaps.filter(isOwnSwap) : []
  } catch {
    return []
  }
}

function isOwnSwap(value: Partial<OwnSwap> | null): value is OwnSwap {
  return (
    Number.isSafeInteger(value?.chainId) &&
    typeof value?.orderId === 'string' &&
    typeof value.quoteId === 'string'
  )
}
