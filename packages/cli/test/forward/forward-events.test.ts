import { AggregatorError, type OrderEvent, type StreamOptions } from '@quote-aggregator/client'
import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { forwardEvents } from '../../src/forward/forward-events.js'

const HOUR_MS = 3_600_000

/** An event of an order, which is named by a digit. */
function event(
  type: 'Deposited' | 'Settled',
  chainId: number,
  order: number,
  blockNumber: number,
): OrderEvent {
  return {
    type,
    chainId,
    blockNumber,
    orderId: `0x${String(order).repeat(64)}`,
    cursor: `${type} ${chainId} ${order} ${blockNumber}`,
  } as OrderEvent
}

function revert(reverted: OrderEvent): OrderEvent {
  const { type, cursor } = reverted
  return { ...reverted, type: 'Reverted', event: type, cursor: `no ${cursor}` } as OrderEvent
}

/** Forwarding from a stream that the test writes. */
function startForwarding(confirmations: number, from = 'begin') {
  const after = from === 'now' ? undefined : from
  const clock = createManualClock()
  const ending = new AbortController()
  const waiting: OrderEvent[] = []
  const sent: string[] = []
  const kept: string[] = []
  const heads = new Map<number, number>()
  let wake = () => {}
  let failure: Error | undefined
  let listener: StreamOptions = {}
  const state = { reads: 0, sendMs: 0 }

  const client = {
    async *streamEvents(_filter: unknown, options: StreamOptions = {}) {
      listener = options
      options.onConnected?.({ cursor: from, supportedChains: [1, 2] })
      while (!ending.signal.aborted) {
        if (failure) throw failure
        const next = waiting.shift()
        if (next) yield next
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    },
    async listChains() {
      state.reads++
      return [...heads].map(([chainId, headBlock]) => ({ chainId, headBlock })) as never
    },
  }
  const forwarding = (async () => {
    const events = forwardEvents({
      client,
      filter: { after },
      confirmations,
      clock,
      signal: ending.signal,
      async send({ cursor }) {
        if (state.sendMs > 0) await clock.sleep(state.sendMs)
        sent.push(cursor)
      },
      keep: async (cursor) => void kept.push(cursor),
      onLost: () => {},
    })
    for await (const _event of events);
  })()
  return {
    clock,
    sent,
    kept,
    heads,
    state,
    forwarding,
    async come(...events: OrderEvent[]) {
      waiting.push(...events)
      wake()
      await clock.advance(0)
    },
    async fail(error: Error) {
      failure = error
      wake()
      await clock.advance(0)
    },
    lose: () => listener.onLost?.(new AggregatorError('CONNECTION_FAILED', 'lost')),
    connect: () => listener.onConnected?.({ cursor: 'later', supportedChains: [1, 2] }),
    async end() {
      ending.abort()
      wake()
      await forwarding
    },
  }
}

const A = event('Deposited', 1, 1, 10)
const B = event('Deposited', 1, 2, 11)
const OTHER_CHAIN = event('Deposited', 2, 3, 500)

describe('without confirmations', () => {
  it('each event is sent at once, the removed ones too, and the place follows', async () => {
    const { come, sent, kept, state, end } = startForwarding(0)
    await come(A, revert(A), B)
    expect(sent).toEqual([A.cursor, `no ${A.cursor}`, B.cursor])
    expect(kept).toEqual(['begin', A.cursor, `no ${A.cursor}`, B.cursor])
    expect(state.reads).toBe(0)
    await end()
  })

  it('the next event waits until the one before is delivered', async () => {
    const { come, sent, kept, clock, state, end } = startForwarding(0)
    state.sendMs = HOUR_MS
    await come(A, B)
    await clock.advance(HOUR_MS - 1)
    expect(sent).toEqual([])
    await clock.advance(1)
    expect([sent, kept]).toEqual([[A.cursor], ['begin', A.cursor]])
    await clock.advance(HOUR_MS)
    expect(sent).toEqual([A.cursor, B.cursor])
    await end()
  })

  it('new events have their place before the first one comes', async () => {
    const { clock, kept, connect, end } = startForwarding(0, 'now')
    await clock.advance(0)
    expect(kept).toEqual(['now'])
    connect()
    await clock.advance(0)
    expect(kept).toEqual(['now', 'later'])
    await end()
  })

  it('the beginning of the log keeps no place before the first event', async () => {
    const { clock, come, kept, end } = startForwarding(0, 'earliest')
    await clock.advance(0)
    expect(kept).toEqual([])
    await come(A)
    expect(kept).toEqual([A.cursor])
    await end()
  })

  it('the error of the stream ends it', async () => {
    const { fail, forwarding } = startForwarding(0)
    const refused = new AggregatorError('CURSOR_UNKNOWN', 'unknown')
    const ended = expect(forwarding).rejects.toBe(refused)
    await fail(refused)
    await ended
  })
})

describe('with confirmations', () => {
  it('an event is sent when that many blocks are over it, by a head that is 5 s old', async () => {
    const { come, clock, heads, sent, kept, end } = startForwarding(3)
    heads.set(1, 12)
    await come(A)
    await clock.advance(60_000)
    expect(sent).toEqual([])
    heads.set(1, 13)
    await clock.advance(5_000)
    expect(sent).toEqual([])
    await clock.advance(5_000)
    expect([sent, kept]).toEqual([[A.cursor], ['begin', A.cursor]])
    await end()
  })

  it('a held event that is removed is not sent, nor its removal, and the new one is', async () => {
    const { come, clock, heads, sent, end } = startForwarding(3)
    const again = event('Deposited', 1, 1, 12)
    heads.set(1, 12)
    await come(A, B, revert(B), revert(A), again)
    heads.set(1, 30)
    await clock.advance(10_000)
    expect(sent).toEqual([again.cursor])
    await end()
  })

  it('the removal of an event that was sent is sent at once', async () => {
    const { come, clock, heads, sent, end } = startForwarding(3)
    heads.set(1, 30)
    await come(A)
    await clock.advance(10_000)
    await come(revert(A))
    expect(sent).toEqual([A.cursor, `no ${A.cursor}`])
    await end()
  })

  it('events of another chain pass a held one, and the place stays before it', async () => {
    const { come, clock, heads, sent, kept, end } = startForwarding(3)
    heads.set(1, 10).set(2, 503)
    const older = event('Deposited', 1, 4, 5)
    await come(older, A, OTHER_CHAIN, B)
    await clock.advance(10_000)
    expect(sent).toEqual([older.cursor, OTHER_CHAIN.cursor])
    expect(kept).toEqual(['begin', older.cursor, older.cursor])
    heads.set(1, 14)
    await clock.advance(10_000)
    expect(sent.slice(2)).toEqual([A.cursor, B.cursor])
    expect(kept.slice(3)).toEqual([OTHER_CHAIN.cursor, B.cursor])
    await end()
  })

  it('no event passes another one of its chain', async () => {
    const { come, clock, heads, sent, end } = startForwarding(3)
    heads.set(1, 13)
    await come(B, A)
    await clock.advance(60_000)
    expect(sent).toEqual([])
    await end()
  })

  it.each(['while the connection is lost', 'just after it is back'])('no head counts %s', async (when) => {
    const { come, clock, heads, sent, lose, connect, end } = startForwarding(3)
    heads.set(1, 12)
    await come(A)
    await clock.advance(20_000)
    lose()
    heads.set(1, 99)
    await clock.advance(60_000)
    expect(sent).toEqual([])
    connect()
    await clock.advance(when.startsWith('while') ? 0 : 5_000)
    await come(revert(A))
    await clock.advance(60_000)
    expect(sent).toEqual([])
    await end()
  })

  it('a new connection keeps the place before what is held', async () => {
    const { come, clock, heads, kept, lose, connect, end } = startForwarding(3)
    heads.set(1, 13)
    await come(A, B)
    lose()
    connect()
    await clock.advance(0)
    expect(kept).toEqual(['begin'])
    await clock.advance(15_000)
    expect(kept).toEqual(['begin', A.cursor])
    await end()
  })

  it('after a receiver that took long, the stream is read before more is sent', async () => {
    const { come, clock, heads, sent, state, end } = startForwarding(3)
    heads.set(1, 99)
    await come(A, B)
    state.sendMs = HOUR_MS
    await clock.advance(HOUR_MS)
    await come(revert(B))
    await clock.advance(HOUR_MS)
    expect(sent).toEqual([A.cursor])
    await end()
  })
})
