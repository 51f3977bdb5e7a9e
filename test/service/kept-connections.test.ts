import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { between } from '../support/between.js'
import { solverAccounts, startChain, type TestChain } from '../support/chain/chain.js'
import { deferred } from '../support/deferred.js'
import { eventually } from '../support/eventually.js'
import { startService, type TestService } from '../support/service/service.js'
import { quoteRequest } from '../support/solvers/quote-request.js'
import { type Behaviour, honest, register, startSolver, type TestSolver } from '../support/solvers/solver.js'

const QUOTE_TIMEOUT_MS = 500
const [account] = solverAccounts

const WAYS_TO_CLOSE: [string, (socket: Socket) => void][] = [
  ['closes', (socket) => socket.end()],
  ['resets', (socket) => socket.resetAndDestroy()],
]
const [, [, reset]] = WAYS_TO_CLOSE as [unknown, [string, (socket: Socket) => void]]

let chain: TestChain
let service: TestService
let solver: TestSolver
/** The requests for quotes, those that got no response too. */
let received: IncomingMessage[]

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  solver = await startSolver(chain, account)
})

afterAll(async () => {
  await solver?.close()
  await chain?.stop()
})

/** A service that keeps one connection to the solver, on which it has got one offer. */
beforeEach(async () => {
  service = await startService(chain, { QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) })
  onTestFinished(service.close)
  await solver.register(service)
  behave(honest())
  expect((await ask()).status).toBe(200)
  received = []
})

/** Has the solver answer in these ways, in turn; in the last way from then on. */
function behave(...ways: Behaviour[]): void {
  received = []
  solver.behave((asked, own, exchange) => {
    received.push(exchange.request)
    const way = ways[received.length - 1] ?? (ways.at(-1) as Behaviour)
    return way(asked, own, exchange)
  })
}

const breaksBy =
  (leave: (socket: Socket) => void): Behaviour =>
  async (_ask, _solver, { request }) =>
    void leave(request.socket)

const ask = (init?: RequestInit) => service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain), init)
const readRecord = async (quoteId: string) =>
  (await service.get(`/v1/${chain.chainId}/quote/${quoteId}`)).body
const countReplies = (outcome: string) => service.metric('aggregator_solver_replies_total', { outcome })

/** The solver's statistics, once this many requests are counted. */
async function statsAfter(asked: number) {
  const { body } = await eventually(
    () => service.get(`/v1/${chain.chainId}/solvers/${account.address}/stats`),
    ({ body }) => body.stats?.asked >= asked,
  )
  return body.stats
}

describe.each(WAYS_TO_CLOSE)('a solver that %s a kept connection at the next request', (_how, leave) => {
  it('gets the same request on a new connection, and its offer counts', async () => {
    behave(breaksBy(leave), honest({ output: '2000' }))
    const { status, body } = await ask()
    expect([status, body.quote?.outputAmount]).toEqual([200, '2000'])
    const [lost, repeated] = received as [IncomingMessage, IncomingMessage]
    expect(received).toHaveLength(2)
    expect(repeated.socket).not.toBe(lost.socket)
    for (const name of ['x-quote-id', 'x-request-deadline', 'content-length'])
      expect(repeated.headers[name], name).toBe(lost.headers[name])
    expect(solver.asks.at(-1)).toEqual(solver.asks.at(-2))
    const { solvers } = await readRecord(body.quoteId)
    expect(solvers).toEqual([expect.objectContaining({ solver: account.address, outcome: 'QUOTED' })])
    expect([await countReplies('quoted'), await countReplies('failed')]).toEqual([2, 0])
    expect(await statsAfter(2)).toMatchObject({ asked: 2, quoted: 2, failed: 0, won: 2 })
  })

  it('fails when it closes the new connection too', async () => {
    behave(breaksBy(leave))
    const { status, body } = await ask()
    expect([status, body.code]).toEqual([503, 'NO_QUOTES'])
    expect(received).toHaveLength(2)
    const { solvers } = await readRecord(body.quoteId)
    expect(solvers).toEqual([expect.objectContaining({ solver: account.address, outcome: 'FAILED' })])
    expect([await countReplies('quoted'), await countReplies('failed')]).toEqual([1, 1])
    expect(await statsAfter(2)).toMatchObject({ asked: 2, quoted: 1, failed: 1 })
  })

  it('gets no request twice on a connection without an earlier response', async () => {
    behave(breaksBy(leave))
    await ask()
    behave(breaksBy(leave))
    expect((await ask()).body.code).toBe('NO_QUOTES')
    expect(received).toHaveLength(1)
  })
})

it('a request is not repeated after the first byte of its response', async () => {
  behave(async (_ask, _solver, { request }) => void request.socket.end('H'))
  expect((await ask()).body.code).toBe('NO_QUOTES')
  expect(received).toHaveLength(1)
})

it('a repeated request ends at the deadline of the first, and its solver is late once', async () => {
  behave(
    async (_ask, _solver, { request }) => {
      await pause(QUOTE_TIMEOUT_MS / 2)
      reset(request.socket)
    },
    async () => undefined,
  )
  const start = performance.now()
  const { body } = await ask()
  expect(performance.now() - start).toEqual(between(QUOTE_TIMEOUT_MS - 1, QUOTE_TIMEOUT_MS * 1.5))
  expect([body.code, received.length]).toEqual(['NO_QUOTES', 2])
  expect(await countReplies('late')).toBe(1)
  const { solvers } = await readRecord(body.quoteId)
  expect(solvers).toEqual([expect.objectContaining({ outcome: 'LATE' })])
})

it('a repeated request ends when the caller leaves', async () => {
  const caller = new AbortController()
  const repeated = deferred()
  const ended = deferred()
  behave(breaksBy(reset), async (_ask, _solver, { response }) => {
    response.once('close', ended.open)
    repeated.open()
    return undefined
  })
  const asked = ask({ signal: caller.signal }).catch((error) => error)
  await repeated.opened
  caller.abort()
  await ended.opened
  await asked
  await expect.poll(() => countReplies('cancelled')).toBe(1)
  expect(received).toHaveLength(2)
})

it('the time before a repetition counts as time of the solver', async () => {
  behave(async (_ask, _solver, { request }) => {
    await pause(QUOTE_TIMEOUT_MS / 4)
    reset(request.socket)
  }, honest())
  const { body } = await ask()
  const { solvers } = await readRecord(body.quoteId)
  const { outcome, durationMs } = solvers[0]
  expect([outcome, durationMs]).toEqual(['QUOTED', between(QUOTE_TIMEOUT_MS / 4 - 1, QUOTE_TIMEOUT_MS)])
})

it('a solver that sends blank lines before it closes a new connection gets the request once', async () => {
  let requests = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('\r\n\r\n')
    socket.once('data', () => {
      requests++
      socket.end()
    })
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpointUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await register(service, chain.chainId, account, { endpointUrl })
  requests = 0
  expect((await ask()).body.code).toBe('NO_QUOTES')
  expect(requests).toBe(1)
})
