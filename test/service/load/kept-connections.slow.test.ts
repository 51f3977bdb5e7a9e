import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver } from '../../support/solvers/solver.js'

const QUOTE_TIMEOUT_MS = 2000
const [account] = solverAccounts

const WAYS_TO_CLOSE: [string, (socket: Socket) => void][] = [
  ['closes', (socket) => socket.end()],
  ['resets', (socket) => socket.resetAndDestroy()],
]
const [, [, reset]] = WAYS_TO_CLOSE as [unknown, [string, (socket: Socket) => void]]

let service: TestService
/** The requests for quotes, those that got no response too. */
let received: IncomingMessage[]
let kept: Socket[]

const chain = await shared(startModelChain({ bonded: 1 }))
const solver = await shared(startSolver(chain, account))

/** A service that keeps two connections to the solver, with an offer on each. */

beforeEach(async () => {
  service = await startService(chain, { QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) })
  onTestFinished(() => service.close())
  await solver.register(service)
  const both = deferred()
  behave(async (...exchange) => {
    if (received.length === 2) both.open()
    await both.opened
    return honest()(...exchange)
  })
  const answers = await Promise.all([ask(), ask()])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  kept = received.map(({ socket }) => socket)
  expect(new Set(kept).size).toBe(2)
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

/** Ends the connection of a request without a response. */
const breaksBy =
  (leave: (socket: Socket) => void): Behaviour =>
  async (_ask, _solver, { request }) =>
    void leave(request.socket)

const ask = (init?: RequestInit) => service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain), init)
const readRecord = async (quoteId: string) =>
  (await service.get(`/v1/${chain.chainId}/quote/${quoteId}`)).body
const countReplies = (outcome: string) => service.metric('aggregator_solver_replies_total', { outcome })

describe.each(WAYS_TO_CLOSE)('a solver that %s a kept connection at the next request', (_how, leave) => {
  it('gets the same request on a new connection, and its offer counts', async () => {
    behave(breaksBy(leave), honest({ output: '2000' }))
    const { status, body } = await ask()
    expect([status, body.quote?.outputAmount]).toEqual([200, '2000'])
    const [lost, repeated] = received as [IncomingMessage, IncomingMessage]
    expect(received).toHaveLength(2)
    expect(kept).toContain(lost.socket)
    expect(kept).not.toContain(repeated.socket)
    for (const name of ['x-quote-id', 'x-request-deadline', 'content-length'])
      expect(repeated.headers[name], name).toBe(lost.headers[name])
    expect(solver.asks.at(-1)).toEqual(solver.asks.at(-2))
    const { solvers } = await readRecord(body.quoteId)
    expect(solvers).toEqual([expect.objectContaining({ solver: account.address, outcome: 'QUOTED' })])
    expect([await countReplies('quoted'), await countReplies('failed')]).toEqual([3, 0])
  })

  it('fails when it closes the new connection too', async () => {
    behave(breaksBy(leave))
    const { status, body } = await ask()
    expect([status, body.code]).toEqual([503, 'NO_QUOTES'])
    expect(received).toHaveLength(2)
    const { solvers } = await readRecord(body.quoteId)
    expect(solvers).toEqual([expect.objectContaining({ solver: account.address, outcome: 'FAILED' })])
    expect([await countReplies('quoted'), await countReplies('failed')]).toEqual([2, 1])
  })

  it('gets no request twice on a connection without an earlier response', async () => {
    behave(breaksBy(leave))
    await ask()
    behave(breaksBy(leave))
    expect((await ask()).body.code).toBe('NO_QUOTES')
    expect(received).toHaveLength(1)
    expect(kept).not.toContain(received[0]?.socket)
  })
})

it('a repeated request counts once in the statistics of its solver', async () => {
  behave(breaksBy(reset), honest())
  await ask()
  behave(breaksBy(reset))
  await ask()
  const { body } = await eventually(
    () => service.get(`/v1/${chain.chainId}/solvers/${account.address}/stats`),
    ({ body }) => body.stats?.asked >= 4,
  )
  expect(body.stats).toMatchObject({ asked: 4, quoted: 3, failed: 1, wonAlone: 3 })
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
      return undefined
    },
    async () => undefined,
  )
  const start = performance.now()
  const { body } = await ask()
  expect(performance.now() - start).toBeGreaterThan(QUOTE_TIMEOUT_MS - 1)
  expect([body.code, received.length]).toEqual(['NO_QUOTES', 2])
  const [first, second] = received.map(({ headers }) => headers['x-request-deadline'])
  expect(second).toBe(first)
  expect(await countReplies('late')).toBe(1)
  const { solvers } = await readRecord(body.quoteId)
  expect(solvers).toEqual([expect.objectContaining({ outcome: 'LATE' })])
})
