/** A swap that was made in this browser: only here, its order is known to come from this quote. */
export interface OwnSwap {
  readonly chainId: number
  readonly orderId: string
  readonly quoteId: string
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

function ownSwaps(): OwnSwap[] {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]')
  } catch {
    return []
  }
}
