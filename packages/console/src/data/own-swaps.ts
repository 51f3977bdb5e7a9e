import { create, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf'
import { type SignedQuote, SignedQuoteSchema } from '../../../../gen/aggregator/v1/quote_pb.js'

/** A swap that was made in this browser: only here, its order is known to come from this quote. */
export interface OwnSwap {
  readonly chainId: number
  readonly orderId: string
  readonly quoteId: string
  /** As ProtoJSON. Only of a deposit address: the contract returns tokens there for the quote with its signature. */
  readonly signedQuote?: JsonValue
}

const STORAGE_KEY = 'swaps'
const MAX_SWAPS = 100

/** Keeps from which quote an order comes. */
export function rememberSwap(swap: OwnSwap): void {
  const others = ownSwaps().filter(({ orderId }) => orderId !== swap.orderId)
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify([swap, ...others].slice(0, MAX_SWAPS)))
  } catch {}
}

/** @returns undefined for an order that was not made in this browser */
export function ownSwap(orderId: string): OwnSwap | undefined {
  return ownSwaps().find((swap) => swap.orderId === orderId)
}

/** An offer as storage keeps it. */
export function toStoredQuote(offer: Omit<SignedQuote, '$typeName'>): JsonValue {
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

/** The offer of a swap by deposit address. @returns undefined for other swaps, and when storage has something else */
export function storedQuote({ signedQuote }: OwnSwap): SignedQuote | undefined {
  try {
    if (signedQuote === undefined) return undefined
    return fromJson(SignedQuoteSchema, signedQuote, { ignoreUnknownFields: true })
  } catch {
    return undefined
  }
}

function ownSwaps(): OwnSwap[] {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]')
  } catch {
    return []
  }
}
