import { getEventListeners } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createEndpointGuard } from '../../../src/solvers/transport/endpoint-guard.js'
import { createSolverHttpClient } from '../../../src/solvers/transport/solver-http-client.js'
import { eventually } from '../../support/eventually.js'
import { listen } from '../../support/listen.js'
import { askAt } from './ask.js'

type Way = (socket: Socket, response: ServerResponse) => void

const answer: Way = (_socket, response) => void response.end('{}')
const keepSilent: Way = () => {}
const close: Way = (socket) => void socket.end()
const reset: Way = (socket) => void socket.resetAndDestroy()
const REPLIED = { kind: 'replied', body: {} }
const LOST = { kind: 'failed', reason: 'connection_lost' }

let ask: (signal?: AbortSignal, call?: Parameters<typeof askAt>[3]) => ReturnType<typeof askAt>
/** The requests, those that got no response too. */
let received: IncomingMessage[]
let kept: Socket[]
/** What the solver does with the next requests. Then it answers. */
let ways: Way[]

/** A client that keeps two connections to a solver. */
beforeEach(async () => {
  received = []
  const server = createServer((request, response) => {
    received.push(request)
    const way = ways.shift() ?? answer
    request.resume().on('end', () => way(request.socket, response))
  })
  const { url } = await listen(server)
  const client = createSolverHttpClient(createEndpointGuard({ production: false, allowlist: [] }), 2)
  onTestFinished(async () => {
    await client.close()
    server.close()
  })
  ask = (...more) => askAt(client, url, ...more)
  const waiting: ServerResponse[] = []
  const whenBothWait: Way = (_socket, response) => {
    if (waiting.push(response) === 2) for (const each of waiting) each.end('{}')
  }
  ways = [whenBothWait, whenBothWait]
  await Promise.all([ask(), ask()])
  kept = received.map(({ socket }) => socket)
  expect(new Set(kept).size).toBe(2)
  received = []
})

describe.each([
  ['closes', close],
  ['resets', reset],
])('a solver that %s a kept connection at the next request', (_how, leave) => {
  test('gets the same request once more, on a new connection', async () => {
    ways = [leave]
    const onSent = vi.fn()
    expect(await ask(undefined, { quoteId: 'an id', onSent })).toEqual(REPLIED)
    const [lost, repeated] = received as [IncomingMessage, IncomingMessage]
    expect(received).toHaveLength(2)
    expect(kept).toContain(lost.socket)
    expect(kept).not.toContain(repeated.socket)
    expect(repeated.headers).toEqual({ ...lost.headers, connection: repeated.headers.connection })
    expect(onSent).toHaveBeenCalledOnce()
  })

  test('fails when it closes the new connection too', async () => {
    ways = [leave, leave]
    expect(await ask()).toMatchObject(LOST)
    expect(received).toHaveLength(2)
  })

  test('gets no request twice on a connection without an earlier response', async () => {
    ways = [leave, leave]
    await ask()
    received = []
    ways = [leave]
    expect(await ask()).toMatchObject(LOST)
    expect(received).toHaveLength(1)
    expect(kept).not.toContain(received[0]?.socket)
  })
})

test('a request is not repeated after the first byte of its response', async () => {
  ways = [(socket) => void socket.end('H')]
  expect(await ask()).toMatchObject({ kind: 'failed' })
  expect(received).toHaveLength(1)
})

test('a repeated request ends with its call', async () => {
  ways = [reset, keepSilent]
  const call = new AbortController()
  const asked = ask(call.signal)
  await eventually(
    async () => received.length,
    (count) => count === 2,
  )
  call.abort()
  expect(await asked).toEqual({ kind: 'cancelled' })
})

test.each([
  ['answers', answer],
  ['breaks the connection', reset],
])('a request to a solver that %s leaves no listener on the signal of its caller', async (_how, way) => {
  const { signal } = new AbortController()
  ways = [way, way]
  await new Promise<void>((onEnd) => void ask(signal, { quoteId: 'an id', onEnd }))
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
