import { Code, createClient, createRouterTransport } from '@connectrpc/connect'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../../gen/health/v1/health_pb.js'
import { createHealth } from '../../../src/rpc/services/health.js'
import { HANG_MS } from '../../support/hang.js'

/** An interval of checks that never come in time, and one of checks that come at once. */
const SELDOM_MS = 60_000
const LONG = { timeout: HANG_MS }
const OFTEN_MS = 5

/** Health of a server whose state the test sets, called over Connect without a network. */
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
  /** Reads each message at once, as a connection does; or only on request, as a blocked one does. */
  const watch = (service = '', { takesAhead = true } = {}) => {
    const left = new AbortController()
    onTestFinished(() => left.abort())
    const options = { signal: left.signal, timeoutMs: HANG_MS }
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

describe('the slots for watchers', () => {
  it('have one limit for known and unknown services together', async () => {
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

  it('are not needed for a single check', async () => {
    const { watch, client } = setUp({ maxWatchers: 1 })
    await watch().next()
    expect((await client.check({})).status).toBe(Status.SERVING)
    expect(Object.keys((await client.list({})).statuses)).toEqual(['', 'a.v1.Service'])
  })
})

describe('a watcher', () => {
  it('gets each change once', async () => {
    const { server, watch } = setUp({ watchIntervalMs: OFTEN_MS })
    const watcher = watch('a.v1.Service')
    const received = [await watcher.next()]
    for (const isServing of [false, true, false]) {
      server.isServing = isServing
      received.push(await watcher.next())
    }
    expect(received).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING, Status.NOT_SERVING])
  })

  it('still gets changes when all others have left', async () => {
    const { server, watch } = setUp({ watchIntervalMs: OFTEN_MS })
    const [first, second] = [watch(), watch()]
    await Promise.all([first.next(), second.next()])
    first.leave()
    server.isServing = false
    expect(await second.next()).toBe(Status.NOT_SERVING)
  })

  it('gets the end of an outage that began before the first watcher', async () => {
    const { server, watch } = setUp({ watchIntervalMs: 200 })
    server.isServing = false
    const watcher = watch()
    expect(await watcher.next()).toBe(Status.NOT_SERVING)
    server.isServing = true
    expect(await watcher.next()).toBe(Status.SERVING)
  })

  it('costs nothing after it has left', async () => {
    const { server, watch } = setUp({ watchIntervalMs: OFTEN_MS })
    const watcher = watch()
    await watcher.next()
    await vi.waitFor(() => expect(server.polls).toBeGreaterThan(5), { interval: OFTEN_MS, ...LONG })
    watcher.leave()
    await expect(watcher.next()).rejects.toMatchObject({ code: Code.Canceled })
    const { polls } = server
    // Ten checks of another server with the same interval: this server would have checked by then.
    const other = setUp({ watchIntervalMs: OFTEN_MS })
    await other.watch().next()
    await vi.waitFor(() => expect(other.server.polls).toBeGreaterThan(10), { interval: OFTEN_MS, ...LONG })
    expect(server.polls).toBe(polls)
  })
})

describe('a server that drains', () => {
  it('sends all watchers that no service is serving, except for unknown services, and ends their streams', async () => {
    const { health, watch } = setUp()
    const [known, unknown] = [watch('a.v1.Service'), watch('a.v1.Unknown')]
    await Promise.all([known.next(), unknown.next()])
    health.drain()
    expect([await known.next(), await known.next()]).toEqual([Status.NOT_SERVING, undefined])
    expect(await unknown.next()).toBeUndefined()
  })

  it('also reaches a watcher that has not read the message before', async () => {
    const { health, watch } = setUp()
    const watcher = watch('', { takesAhead: false })
    expect(await watcher.next()).toBe(Status.SERVING)
    health.drain()
    expect([await watcher.next(), await watcher.next()]).toEqual([Status.NOT_SERVING, undefined])
  })

  it('sends the status once to a later watcher, and to a check', async () => {
    const { health, client, watch } = setUp()
    health.drain()
    expect((await client.check({})).status).toBe(Status.NOT_SERVING)
    const late = watch()
    expect([await late.next(), await late.next()]).toEqual([Status.NOT_SERVING, undefined])
  })

  it('does not send a status again that a watcher already has', async () => {
    const { server, health, watch } = setUp()
    server.isServing = false
    const watcher = watch()
    expect(await watcher.next()).toBe(Status.NOT_SERVING)
    health.drain()
    expect(await watcher.next()).toBeUndefined()
  })
})

it('an unknown service is named in the error, which a header sends, at most 100 characters of it', async () => {
  const { client } = setUp()
  const named = (service: string) => client.check({ service }).catch((error) => error.rawMessage)
  expect(await named('a.v1.Unknown')).toBe('This server has no service a.v1.Unknown.')
  expect(await named('🙂'.repeat(200))).toBe(`This server has no service ${'🙂'.repeat(100)}….`)
})
