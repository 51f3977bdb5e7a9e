import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { ReplicaClient, ReplicaRequest } from '../../src/cluster/replica-client.js'
import { createReplicaLinks } from '../../src/cluster/replica-links.js'
import { createManualClock } from '../support/manual-clock.js'

const A = { replicaId: 'a', url: 'http://a' }
const B = { replicaId: 'b', url: 'http://b' }
/** A check begins every half second, and fails after one. */
const NOTICED_MS = 1500

/** A request of a client that no answer has come for. */
interface Asked extends ReplicaRequest {
  readonly url: string
  readonly end: () => void
}

/** Links to replicas that answer checks, but those in `silent`, and no request until the test ends it. */
function openLinks() {
  const clock = createManualClock()
  const silent = new Set<string>()
  const changes: string[] = []
  const asked: Asked[] = []
  let clients = 0
  const links = createReplicaLinks(
    ({ url }): ReplicaClient => {
      clients++
      const closing = new AbortController()
      closing.signal.addEventListener('abort', () => clients--)
      const pending = (begin: (resolve: () => void, reject: (error: Error) => void) => void) =>
        new Promise<void>((resolve, reject) => {
          if (closing.signal.aborted) return reject(new Error('it is closed'))
          closing.signal.addEventListener('abort', () => reject(closing.signal.reason))
          begin(resolve, reject)
        })
      return {
        send: (request) => pending((end) => asked.push({ ...request, url, end })),
        check: (timeoutMs) =>
          pending((resolve, reject) => {
            if (silent.has(url)) clock.setTimeout(() => reject(new Error('no answer')), timeoutMs)
            else resolve()
          }),
        close: (error) => closing.abort(error),
      }
    },
    (replicaId, isUp) => changes.push(`${replicaId} ${isUp ? 'up' : 'down'}`),
    pino({ level: 'silent' }),
    clock,
  )
  const ask = (target = A) => links.send(target, { body: '{}', timeoutMs: 10_000, onLine() {} })
  return { ...links, clock, silent, changes, asked, ask, clients: () => clients }
}

test('requests go to a replica from the first moment on, without a check before', async () => {
  const { follow, ask, asked, changes } = openLinks()
  follow([A])
  const answered = ask()
  asked[0]?.end()
  await answered
  expect(asked).toMatchObject([{ url: A.url }])
  expect(changes).toEqual([])
})

test('a replica that stops to answer checks fails its requests with the next one, and then at once', async () => {
  const { follow, ask, silent, changes, clock, countDown } = openLinks()
  follow([A, B])
  await clock.advance(NOTICED_MS)
  silent.add(A.url)
  const held = expect(ask()).rejects.toThrow('no answer')
  const other = ask(B)
  await clock.advance(NOTICED_MS)
  await held
  expect(changes).toEqual(['a down'])
  expect(countDown()).toBe(1)
  await expect(ask()).rejects.toThrow('does not answer')
  expect(await Promise.race([other, 'it waits'])).toBe('it waits')
})

test('a replica that answers again is asked again, by a client that has none of the connections of before', async () => {
  const { follow, ask, asked, silent, changes, clock, countDown } = openLinks()
  follow([A])
  silent.add(A.url)
  await clock.advance(NOTICED_MS + NOTICED_MS)
  silent.clear()
  await clock.advance(NOTICED_MS)
  expect(changes).toEqual(['a down', 'a up'])
  expect(countDown()).toBe(0)
  const answered = ask()
  asked[0]?.end()
  await answered
})

test.each([
  ['no longer', [A]],
  ['not', []],
])('a replica that is %s followed is checked until its last request has ended', async (_what, followed) => {
  const { follow, ask, asked, clock, clients } = openLinks()
  follow(followed)
  const held = ask()
  follow([])
  await clock.advance(NOTICED_MS)
  expect(clients()).toBe(1)
  asked[0]?.end()
  await held
  await clock.advance(0)
  expect([clients(), clock.waiting]).toEqual([0, 0])
})

test('a replica that stops to answer when it is no longer followed fails its last requests, and nobody is told', async () => {
  const { follow, ask, silent, changes, clock, clients } = openLinks()
  follow([A])
  await clock.advance(0)
  const held = expect(ask()).rejects.toThrow('no answer')
  follow([])
  silent.add(A.url)
  await clock.advance(NOTICED_MS)
  await held
  expect(changes).toEqual([])
  expect([clients(), clock.waiting]).toEqual([0, 0])
})

test('a replica that is down and no longer followed is up for whoever was told', async () => {
  const { follow, silent, changes, clock } = openLinks()
  silent.add(A.url)
  follow([A])
  await clock.advance(NOTICED_MS)
  follow([])
  expect(changes).toEqual(['a down', 'a up'])
})

test('the end of the links ends all checks and requests, and no more begin', async () => {
  const { follow, ask, close, clock, clients } = openLinks()
  follow([A, B])
  await clock.advance(0)
  const held = expect(ask()).rejects.toThrow('has ended')
  const unfollowed = expect(ask({ replicaId: 'c', url: 'http://c' })).rejects.toThrow('has ended')
  await close()
  await Promise.all([held, unfollowed])
  follow([A])
  await expect(ask()).rejects.toThrow('this replica ends')
  expect([clients(), clock.waiting]).toEqual([0, 0])
})
