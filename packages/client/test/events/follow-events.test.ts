import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AggregatorError } from '../../src/calls/aggregator-error.js'
import { followEvents, type Notice, type OpenStream } from '../../src/events/follow-events.js'
import { readStreamMessage } from '../../src/events/order-events.js'
import type { ServerSentEvent } from '../../src/streams/sse-reader.js'

/** A block of the stream. Its events have no names. */
type Block = Pick<ServerSentEvent, 'id' | 'data'>
/** The messages of a stream, one after the other: a block, an error that ends it, or silence from there on. */
type Script = readonly (Block | Error | 'silence')[]

const event = (id: string, fields: object): Block => ({
  id,
  data: JSON.stringify({ ...fields, cursor: id }),
})
const connected = (cursor: string) => event(cursor, { type: 'connected', supportedChains: [1] })
const settled = (cursor: string) =>
  event(cursor, { type: 'Settled', chainId: 1, orderId: `0x${'ab'.repeat(32)}`, blockNumber: 5 })
const heartbeat = (id: string): Block => ({ id, data: '' })
const broken = new AggregatorError('CONNECTION_FAILED', 'broken')
const refusal = (reason: 'CURSOR_UNKNOWN' | 'SHUTTING_DOWN') => new AggregatorError(reason, 'No.')

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Plays one script after the other, and notes the cursor that each stream was opened with. */
function instance(scripts: readonly Script[]) {
  const opened: (string | undefined)[] = []
  const open: OpenStream = async function* ({ after }, signal) {
    const script = scripts[opened.length] ?? ['silence']
    opened.push(after)
    for (const step of script) {
      if (step instanceof Error) throw step
      if (step !== 'silence') yield readStreamMessage(step)
      else
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        })
    }
  }
  return { open, opened }
}

/** The next so many notices, while the fake time passes. */
async function take(notices: AsyncGenerator<Notice>, count: number): Promise<unknown[]> {
  const taken: unknown[] = []
  let isDone = false
  const taking = (async () => {
    while (taken.length < count) {
      const { value, done } = await notices.next()
      if (done) break
      taken.push('cursor' in value ? value.cursor : value.type)
    }
  })().finally(() => {
    isDone = true
  })
  taking.catch(() => {})
  while (!isDone) await vi.advanceTimersByTimeAsync(1000)
  await taking
  return taken
}

describe('followEvents', () => {
  it('resumes after the last message when a connection is lost, and reports the loss', async () => {
    const { open, opened } = instance([
      [connected('c.1'), settled('c.2'), heartbeat('c.9'), broken],
      [broken],
      [connected('c.9'), settled('c.10')],
    ])
    const lost: string[] = []
    const openings: string[] = []
    const notices = followEvents(
      open,
      { after: 'c.0' },
      {
        onLost: ({ reason }: AggregatorError) => void lost.push(reason),
        onConnected: ({ cursor }) => void openings.push(cursor),
      },
    )
    expect(await take(notices, 6)).toEqual([
      'connected',
      'c.2',
      'disconnected',
      'disconnected',
      'connected',
      'c.10',
    ])
    expect(opened).toEqual(['c.0', 'c.9', 'c.9'])
    expect(lost).toEqual(['CONNECTION_FAILED', 'CONNECTION_FAILED'])
    expect(openings).toEqual(['c.1', 'c.9'])
    await notices.return()
  })

  it('starts again without a cursor that was lost, for a caller that only needs changes', async () => {
    const { open, opened } = instance([
      [connected('c.1'), settled('c.2'), refusal('CURSOR_UNKNOWN')],
      [connected('d.1'), settled('d.2')],
    ])
    const lost: string[] = []
    const onLost = ({ reason }: AggregatorError) => void lost.push(reason)
    const notices = followEvents(open, {}, { onLost, isStreamOptional: true })
    expect(await take(notices, 5)).toEqual(['connected', 'c.2', 'disconnected', 'connected', 'd.2'])
    expect(opened).toEqual([undefined, undefined])
    expect(lost).toEqual(['CURSOR_UNKNOWN'])
    await notices.return()
  })

  it('goes on without a stream that it cannot have, less and less often, for a caller that only needs changes', async () => {
    const refused = new AggregatorError('ANSWER_INVALID', 'A gateway answered.')
    const { open, opened } = instance(Array.from({ length: 9 }, () => [connected('c.1'), refused]))
    const notices = followEvents(open, {}, { isStreamOptional: true })
    const start = Date.now()
    const taken = await take(notices, 18)
    expect(taken).toEqual(Array.from({ length: 9 }, () => ['connected', 'disconnected']).flat())
    expect(opened).toHaveLength(9)
    // Half of 0.5, 1, 2, 4, 8, 16, 30 and 30 s at least, though the stream has opened each time.
    expect(Date.now() - start).toBeGreaterThan(45_000)
    await notices.return()
  })

  it('throws a cursor that was lost to all other callers, because they would miss events', async () => {
    const { open } = instance([[connected('c.1'), settled('c.2'), refusal('CURSOR_UNKNOWN')]])
    await expect(take(followEvents(open, {}, {}), 3)).rejects.toMatchObject({ reason: 'CURSOR_UNKNOWN' })
  })

  it('resumes at the opening when no event has come since', async () => {
    const { open, opened } = instance([[connected('c.5'), refusal('SHUTTING_DOWN')], [connected('c.5')]])
    await take(followEvents(open, {}, {}), 3)
    expect(opened).toEqual([undefined, 'c.5'])
  })

  it('connects again after a stream that ends, and after one that is silent', async () => {
    const { open, opened } = instance([[connected('c.1')], [connected('c.2'), 'silence'], [connected('c.3')]])
    const lost: string[] = []
    const notices = followEvents(open, {}, { onLost: ({ message }) => void lost.push(message) })
    await take(notices, 5)
    expect(opened).toEqual([undefined, 'c.1', 'c.2'])
    expect(lost).toEqual(['The instance has ended the stream.', 'The stream has gone silent.'])
    await notices.return()
  })

  it('gives up a stream that does not open after 10 s', async () => {
    const { open } = instance([['silence'], [connected('c.1')]])
    const start = Date.now()
    expect(await take(followEvents(open, {}, {}), 2)).toEqual(['disconnected', 'connected'])
    expect(Date.now() - start).toBeLessThan(13_000)
  })

  it('connects again soon each time that it was connected in between', async () => {
    const { open } = instance(Array.from({ length: 8 }, () => [connected('c.1'), broken]))
    const start = Date.now()
    await take(followEvents(open, {}, {}), 15)
    expect(Date.now() - start).toBeLessThanOrEqual(8000)
  })

  it('connects again less and less often while nothing but heartbeats come', async () => {
    const { open } = instance(Array.from({ length: 6 }, () => [heartbeat('c.1'), broken]))
    const start = Date.now()
    await take(followEvents(open, {}, {}), 6)
    // Half of 0.5, 1, 2, 4 and 8 s at least.
    expect(Date.now() - start).toBeGreaterThan(7500)
  })

  it('throws an error that another attempt cannot resolve', async () => {
    const { open, opened } = instance([[connected('c.1'), broken], [refusal('CURSOR_UNKNOWN')]])
    const taking = take(followEvents(open, {}, {}), 9)
    await expect(taking).rejects.toMatchObject({ reason: 'CURSOR_UNKNOWN' })
    expect(opened).toHaveLength(2)
  })

  it.each(['silence', 'broken'] as const)(
    'ends without an error when its signal aborts, also in the state of the stream: %s',
    async (state) => {
      const { open } = instance([[connected('c.1'), state === 'silence' ? state : broken]])
      const leaving = new AbortController()
      const onLost = () => leaving.abort()
      const notices = followEvents(open, {}, { signal: leaving.signal, onLost })
      await notices.next()
      if (state === 'silence') setTimeout(() => leaving.abort(), 500)
      expect(await take(notices, 1)).toEqual([])
      expect(vi.getTimerCount()).toBe(0)
    },
  )

  it('leaves nothing running when its consumer leaves', async () => {
    const closed = vi.fn()
    const open: OpenStream = async function* (_, signal) {
      signal.addEventListener('abort', closed)
      yield readStreamMessage(connected('c.1'))
    }
    for await (const _notice of followEvents(open, {}, {})) break
    expect(closed).toHaveBeenCalledOnce()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('skips events of a type that it does not know, and throws an error for what is not an event', async () => {
    const unknown = event('c.2', { type: 'Rewarded' })
    const { open } = instance([[connected('c.1'), unknown, settled('c.3'), { id: 'c.4', data: '<html>' }]])
    const notices = followEvents(open, {}, {})
    expect(await take(notices, 2)).toEqual(['connected', 'c.3'])
    await expect(take(notices, 1)).rejects.toThrow('instead of an object')
  })
})
