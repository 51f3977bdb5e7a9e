import type { AggregatorClient, EventFilter, OrderEvent } from '@quote-aggregator/client'
import type { Clock } from '../../../protocol/src/clock.js'

export interface Forwarding {
  readonly client: Pick<AggregatorClient, 'streamEvents' | 'listChains'>
  /** Its `after` is the place to begin at: without one, new events only. */
  readonly filter: EventFilter
  /** How many blocks must be over an event. */
  readonly confirmations: number
  readonly clock: Clock
  /** Ends it, without an error. */
  readonly signal: AbortSignal
  /** Sends an event until it is delivered. */
  readonly send: (event: OrderEvent) => Promise<void>
  /** Keeps the cursor up to which all is done. */
  readonly keep: (cursor: string) => Promise<void>
  readonly onLost: (error: Error) => void
}

const HEADS_MS = 5_000
/** Then the stream is not read on. */
const MAX_HELD = 10_000

/**
 * Delivers events one after the other, and keeps the place after each. An event waits until enough blocks are over it. One that is
 * reverted before is not sent, nor its `Reverted` (docs/decisions.md, D34). A head counts when the stream was read for 5 s after it: by
 * then it has told of the reorganisations that the instance knew of.
 * @returns the delivered events
 */
export async function* forwardEvents(forwarding: Forwarding): AsyncGenerator<OrderEvent, void, void> {
  const { client, filter, confirmations, clock, signal, send, keep, onLost } = forwarding
  /** In the order of the stream, each with the cursor before it. */
  const held: { readonly event: OrderEvent; readonly before: string | undefined }[] = []
  let last = filter.after
  let isConnected = false
  /** Those that count, after the second read, and the newest. */
  let heads: readonly ReadonlyMap<number, number>[] = []
  let reading: Promise<IteratorResult<OrderEvent>> | undefined
  let tick: Promise<undefined> | undefined
  let keeping = Promise.resolve()

  function keepPlace(cursor: string): Promise<void> {
    keeping = keeping.then(() => keep(cursor))
    return keeping
  }
  function changeConnection(connected: boolean): void {
    isConnected = connected
    heads = []
  }
  const events = client
    .streamEvents(filter, {
      signal,
      onConnected({ cursor }) {
        changeConnection(true)
        // A stream that is quiet for long must not lose its place. The oldest event may be removed before it comes.
        if (held.length > 0 || last === 'earliest') return
        last = cursor
        keepPlace(cursor).catch(() => {})
      },
      onLost(error) {
        changeConnection(false)
        onLost(error)
      },
    })
    [Symbol.asyncIterator]()

  async function readHeads() {
    const chains = await client.listChains({ signal }).catch(() => [])
    return new Map(chains.map(({ chainId, headBlock = 0 }) => [chainId, headBlock]))
  }
  /** The first event that may be sent: it overtakes none of its chain. */
  function nextDeep() {
    const chains = new Set<number>()
    return held.find(({ event: { type, chainId, blockNumber } }) => {
      const isFirst = !chains.has(chainId)
      chains.add(chainId)
      const depth = (heads.at(-2)?.get(chainId) ?? 0) - blockNumber
      return isFirst && (confirmations === 0 || type === 'Reverted' || depth >= confirmations)
    })
  }

  for (;;) {
    if (held.length < MAX_HELD) reading ??= events.next()
    if (held.length > 0) tick ??= clock.sleep(HEADS_MS).then(() => undefined)
    const next = await Promise.race([reading, tick].filter((waiting) => waiting !== undefined))
    await keeping
    if (next?.done) return
    if (next === undefined) {
      tick = undefined
      const newest = await readHeads()
      heads = isConnected ? [...heads, newest].slice(-2) : []
    } else {
      reading = undefined
      const { value: event } = next
      const removed = held.findLastIndex((earlier) => isRemoved(earlier.event, event))
      if (removed < 0) held.push({ event, before: last })
      else held.splice(removed, 1)
      last = event.cursor
    }
    const begin = clock.monotonic()
    for (let deep = nextDeep(); deep !== undefined; deep = nextDeep()) {
      await send(deep.event)
      held.splice(held.indexOf(deep), 1)
      const place = held.length > 0 ? held[0]?.before : last
      if (place !== undefined) await keepPlace(place)
      yield deep.event
      // The stream was not read while the receiver took long.
      if (clock.monotonic() - begin > HEADS_MS) heads = []
    }
  }
}

function isRemoved(earlier: OrderEvent, by: OrderEvent): boolean {
  return (
    by.type === 'Reverted' &&
    by.event === earlier.type &&
    by.chainId === earlier.chainId &&
    by.orderId === earlier.orderId &&
    by.blockNumber === earlier.blockNumber
  )
}
