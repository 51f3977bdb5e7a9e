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
  /** Whether it was seen to have ended, so that nothing is left to take back. */
  readonly isOver?: boolean
  /** What the wallet was asked for last. */
  readonly progress?: DepositProgress | undefined
}

/** Whether the wallet was asked for the deposit, and may have sent it: it is followed then, and not asked for again. */
export const isDepositBegun = (swap: Pick<OwnSwap, 'progress'> | undefined) =>
  swap?.progress?.step === 'deposit' && swap.progress.state !== 'refused'

/** Whether the user's node has seen the deposit, which the instance may not show yet. */
export const isDepositSeen = (swap: Pick<OwnSwap, 'progress'> | undefined) =>
  isDepositBegun(swap) && swap?.progress?.state === 'mined'

const STORAGE_KEY = 'swaps'
const MAX_SWAPS = 500

/** Whether the browser stores what it is given. It does not where its storage is full or blocked. */
export const isKept = signal(true)

/** The swaps of this browser, the last one first. Other tabs add to them. */
const ownSwaps = signal<readonly OwnSwap[]>(stored())
addEventListener('storage', ({ key }) => {
  if (key === STORAGE_KEY && isKept.peek()) ownSwaps.value = known()
})

/** Adds a swap. @returns whether it is there after the page is loaded again */
export function rememberSwap(swap: OwnSwap): boolean {
  return keep([swap, ...known().filter(({ orderId }) => orderId !== swap.orderId)])
}

/** Keeps what has changed of a swap of this browser. */
export function changeSwap(orderId: string, changes: (swap: OwnSwap) => Partial<OwnSwap>): void {
  keep(known().map((swap) => (swap.orderId === orderId ? { ...swap, ...changes(swap) } : swap)))
}

/** Other tabs change what is stored. What it has no more, as when the site's data was deleted, this page still knows. */
function known(): OwnSwap[] {
  const kept = isKept.peek() ? stored() : []
  return [...kept, ...ownSwaps.peek().filter((own) => kept.every(({ orderId }) => orderId !== own.orderId))]
}

function keep(swaps: OwnSwap[]): boolean {
  ownSwaps.value = withoutOldest(swaps)
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(ownSwaps.value))
    isKept.value = true
  } catch {
    isKept.value = false
  }
  return isKept.value
}

/** Swaps that are over go first, and those by address last: a refund needs their signed quotes. */
function withoutOldest(swaps: OwnSwap[]): OwnSwap[] {
  while (swaps.length > MAX_SWAPS) {
    const over = swaps.findLastIndex(({ isOver }) => isOver)
    const oldest = over > 0 ? over : swaps.findLastIndex(({ isContract }) => isContract)
    swaps.splice(oldest > 0 ? oldest : swaps.length - 1, 1)
  }
  return swaps
}

/** The swaps of a chain of which tokens may be on their way, or are, or were: those that are not over first. */
export function begunSwaps(chainId: bigint): OwnSwap[] {
  const begun = ownSwaps.value.filter((swap) => BigInt(swap.chainId) === chainId && swap.isBegun)
  return [...begun.filter(({ isOver }) => !isOver), ...begun.filter(({ isOver }) => isOver)]
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
    const offer = fromJson(SignedQuoteSchema, signedQuote, { ignoreUnknownFields: true })
    const { inputAmount, outputAmount, nonce } = offer.quote ?? {}
    return [inputAmount, outputAmount, nonce].every((text) => /^\d+$/.test(`${text}`)) ? offer : undefined
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
