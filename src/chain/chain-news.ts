import type { Hex } from '../domain/hex.js'
import type { Replicas } from '../domain/replicas.js'
import type { ChainView } from './chain-view.js'

/** What the reader of a chain tells the other replicas. */
export interface ChainNews {
  /** The reader's view, which holds until the next one, and for a few seconds at most. */
  tellView(view: ChainView): void
  /** Orders whose state may have changed, before the view of that block; all of them when undefined. */
  tellTouched(orderIds?: readonly Hex[]): void
}

/** Hears what the reader tells. */
export interface NewsListener {
  onView(view: ChainView): void
  onTouched(orderIds: readonly Hex[] | undefined): void
  /** Some news may not have come. */
  onMissed(): void
}

type Message =
  | { readonly chainId: number; readonly view: ChainView }
  | { readonly chainId: number; readonly touched: readonly Hex[] | 'all' }

/** As many order ids as a message of PostgreSQL holds, which is shorter than 8,000 bytes. */
const MAX_ORDERS = 100

/** Builds what a replica tells of a chain as its reader. */
export function createChainNews(chainId: number, replicas: Pick<Replicas, 'tell'>): ChainNews {
  const tell = (message: Message) => replicas.tell('chains', JSON.stringify(message))
  return {
    tellView: (view) => tell({ chainId, view }),
    tellTouched(orderIds) {
      const isFew = orderIds !== undefined && orderIds.length <= MAX_ORDERS
      tell({ chainId, touched: isFew ? orderIds : 'all' })
    },
  }
}

/** Listens to what is told of a chain. */
export function listenToChainNews(
  chainId: number,
  replicas: Pick<Replicas, 'listen'>,
  listener: NewsListener,
): void {
  replicas.listen('chains', {
    onText(text) {
      const message: Message = JSON.parse(text)
      if (message.chainId !== chainId) return
      if ('view' in message) listener.onView(message.view)
      else listener.onTouched(message.touched === 'all' ? undefined : message.touched)
    },
    onMissed: listener.onMissed,
  })
}
