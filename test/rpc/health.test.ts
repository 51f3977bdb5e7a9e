import { Code, createClient, createRouterTransport } from '@connectrpc/connect'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/health/v1/health_pb.js'
import { createHealth } from '../../src/rpc/health.js'

/** Far beyond what anything here takes; a stream that stays silent is ended by it. */
const PATIENCE_MS = 3000
/** Looks that never come in time, and those that come at once. */
const SELDOM_MS = 60_000
const LONG = { timeout: 20_000 }
const OFTEN_MS = 5

/** Health of a server whose state the test sets, asked over Connect without a network. */
function setUp({ watchIntervalMs = SELDOM_MS, maxWatchers = 2, maxWatchersPerClient = 0 } = {}) {
  const server = { isServing: true, polls: 0 }
  const health = createHealth({
    services: ['a.v1.Service'],
    isServing() {
      server.polls++
      return server.isServing
    },
    watchIntervalMs,
    maxWatchers,
    maxWatchersPerClient,
  })
  const client = createClient(Health, createRouterTransport(health.routes))
  /** Takes each message as soon as it is there, as a connection does; or only when asked, as one that is clogged. */
  const watch = (service = '', { takesAhead = true } = {}) => {
    const left = new AbortController()
    onTestFinished(() => left.abort())
    const options = { signal: left.signal, timeoutMs: PATIENCE_MS }
    const messages = client.watch({ service }, options)[Symbol.asyncIterator]()
    const take = () => {
      const taken = messages.next()
      taken.catch(() => {})
      return taken
    }
    let ahead = takesAhead ? take() : undefined
    const next = async () => {
      const { value } = await (ahead ?? take())
      if (takesAhead) ahead = take()
      return value?.status as Status | undefined
    }
    return { next, leave: () => left.abort() }
  }
  return { server, health, client, watch }
}

const REFUSED = { code: Code.ResourceExhausted }

describe('places for watchers', () => {
  it('are as many as there are, for known and unknown services together', async () => {
    const { watch } = setUp()
    const watches = [watch(), watch('a.v1.Unknown')]
    expect(await Promise.all(watches.map(({ next }) => next()))).toEqual([
      Status.SERVING,
      Status.SERVICE_UNKNOWN,
    ])
    await expect(watch().next()).rejects.toMatchObject(REFUSED)
  })

  it('are free again when a watcher leaves, each only once', async () => {
    const { watch } = setUp()
    const [first, second] = [watch(), watch()]
    await Promise.all([first.next(), second.next()])
    first.leave()
    await vi.waitFor(async () => expect(await watch().next()).toBe(Status.SERVING), LONG)
    await expect(watch().next()).rejects.toMatchObject(REFUSED)
  })

  it('are not used up by those that are refused', async () => {
    const { watch } = setUp({ maxWatchers: 1 })
    const first = watch()
    await first.next()
    for (let refused = 0; refused < 3; refused++) {
      await expect(watch().next()).rejects.toMatchObject(REFUSED)
    }
    first.leave()
    await vi.waitFor(async () => expect(await watch().next()).toBe(Status.SERVING), LONG)
  })

  it('are no matter for who only checks', async () => {
    const { watch, client } = setUp({ maxWatchers: 1 })
    await watch().next()
    expect((await client.check({})).status).toBe(Status.SERVING)
    expect(Object.keys((await client.list({})).statuses)).toEqual(['', 'a.v1.Service'])
  })
})

describe('a watcher', () => {
  it('is told each change once', async () => {
    const { server, watch } = setUp({ watchIntervalMs: OFTEN_MS })
    const watcher = watch('a.v1.Service')
    const told = [await watcher.next()]
    for (const isServing of [false, true, false]) {
      server.isServing = isServing
      told.push(await watcher.next())
    }
    expect(told).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING, Status.NOT_SERVING])
  })

  it('is looked after also when all others have left', async () => {
    const { server, watch } = setUp({ watchIntervalMs: OFTEN_MS })
    const [first, second] = [watch(), watch()]
    await Promise.all([first.next(), second.next()])
    first.leave()
    server.isServing = false
    expect(await second.next()).toBe(Status.NOT_SERVING)
  })

  it('that comes when nothing is serving is told when that is over, though nobody watched before', async () => {
    const { server, watch } = setUp({ watchIntervalMs: 200 })
    server.isServing = false
    const watcher = watch()
    expect(await watcher.next()).toBe(Status.NOT_SERVING)
    server.isServing = true
    expect(await watcher.next()).toBe(Status.SERVING)
  })

  it('that comes in a short outage between two looks is told when that is over', async () => {
    const { server, watch } = setUp({ watchIntervalMs: 200 })
    const earlier = watch()
    await earlier.next()
    const { polls } = server
    await vi.waitFor(() => expect(server.polls).toBeGreaterThan(polls), { interval: OFTEN_MS, ...LONG })
    server.isServing = false
    const later = watch()
    expect(await later.next()).toBe(Status.NOT_SERVING)
    server.isServing = true
    expect(await later.next()).toBe(Status.SERVING)
  })

  it('costs nothing any more when it has left', async () => {
    const { server, watch } = setUp({ watchIntervalMs: OFTEN_MS })
    const watcher = watch()
    await watcher.next()
    await vi.waitFor(() => expect(server.polls).toBeGreaterThan(5), { interval: OFTEN_MS, ...LONG })
    watcher.leave()
    await expect(watcher.next()).rejects.toMatchObject({ code: Code.Canceled })
    const { polls } = server
    // Ten looks of another server, as often: none is left of this one's by then.
    const other = setUp({ watchIntervalMs: OFTEN_MS })
    await other.watch().next()
    await vi.waitFor(() => expect(other.server.polls).toBeGreaterThan(10), { interval: OFTEN_MS, ...LONG })
    expect(server.polls).toBe(polls)
  })
})

describe('a server that drains', () => {
  it('tells all who watch that nothing is serving, but for services that it does not have, and lets go', async () => {
    const { health, watch } = setUp()
    const [known, unknown] = [watch('a.v1.Service'), watch('a.v1.Unknown')]
    await Promise.all([known.next(), unknown.next()])
    health.drain()
    expect([await known.next(), await known.next()]).toEqual([Status.NOT_SERVING, undefined])
    expect(await unknown.next()).toBeUndefined()
  })

  it('tells also who has not taken the message before yet', async () => {
    const { health, watch } = setUp()
    const watcher = watch('', { takesAhead: false })
    expect(await watcher.next()).toBe(Status.SERVING)
    health.drain()
    expect([await watcher.next(), await watcher.next()]).toEqual([Status.NOT_SERVING, undefined])
  })

  it('says so once to who comes later, and to who checks', async () => {
    const { health, client, watch } = setUp()
    health.drain()
    expect((await client.check({})).status).toBe(Status.NOT_SERVING)
    const late = watch()
    expect([await late.next(), await late.next()]).toEqual([Status.NOT_SERVING, undefined])
  })

  it('does not tell a second time who knew already', async () => {
    const { server, health, watch } = setUp()
    server.isServing = false
    const watcher = watch()
    expect(await watcher.next()).toBe(Status.NOT_SERVING)
    health.drain()
    expect(await watcher.next()).toBeUndefined()
  })
})
