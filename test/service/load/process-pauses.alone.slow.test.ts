import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { startServiceProcess } from '../../support/process/process.js'
import { readMetrics } from '../../support/service/metrics.js'
import { environmentFor } from '../../support/service/service.js'
import { grpc, webSocket } from '../../support/sessions/session-connections.js'
import { offering, openSession, type SessionSolver, silent } from '../../support/sessions/session-solver.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, signedRegistration, startSolver, type TestSolver } from '../../support/solvers/solver.js'
import { fromNewClient, hang } from '../../support/solvers/three-solvers.js'

const QUOTE_TIMEOUT_MS = 800
/** After its deadline, a round is due to end for longer than any check of the clock is apart. */
const PAST_DEADLINE_MS = 300
const SOLVERS = 4

let chain: TestChain
let service: Awaited<ReturnType<typeof startService>>
let prompt: TestSolver
let endpoint: TestSolver
let sessions: SessionSolver[]

beforeAll(async () => {
  chain = await startChain({ bonded: SOLVERS })
  service = await startService()
  const [first, second, third, fourth] = solverAccounts
  prompt = await startSolver(chain, first)
  endpoint = await startSolver(chain, second)
  for (const solver of [prompt, endpoint]) await service.register(solver)
  sessions = [
    await openSession(service.url, chain, third, { transport: webSocket }),
    await openSession(service.url, chain, fourth, { transport: grpc }),
  ]
})
afterAll(async () => {
  service?.signal('SIGKILL')
  await Promise.all([prompt?.close(), endpoint?.close()])
  await chain?.stop()
})

/** Everyone answers, so that the service has a connection to each, and expects offers. */
async function haveAllAnswer(): Promise<void> {
  endpoint.behave(honest())
  for (const session of sessions) session.behave(offering('1000'))
  await eventually(service.quote, ({ offers }) => offers === SOLVERS)
}
beforeEach(haveAllAnswer)

/** The built service as a process of its own, on its REST paths. */
async function startService() {
  const running = startServiceProcess({
    ...environmentFor(chain),
    QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS),
    TRUST_PROXY: '1',
  })
  const [, url = ''] = await running.waitFor(/"url":"([^"]+)"/)
  const statusFile = `/proc/${running.child.pid}/stat`

  async function send(path: string, body?: object) {
    const { headers } = fromNewClient({ 'content-type': 'application/json' })
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body), headers }
    const response = await fetch(`${url}/v1/${chain.chainId}/${path}`, init)
    return response.text()
  }

  return {
    url,
    signal: running.signal,
    async register({ account, endpointUrl }: TestSolver) {
      await send('solvers/register', await signedRegistration(account, { endpointUrl }))
    },
    async quote(fields = {}) {
      const body = JSON.parse(await send('quote', { ...quoteRequest(chain), ...fields }))
      return { quoteId: body.quoteId, offers: 1 + (body.alternativeQuotes?.length ?? -1) }
    },
    /** The last message of a stream of one round. */
    async streamedEnd() {
      const [, end = ''] = (await send('quote/stream', quoteRequest(chain))).split('event: done\ndata: ')
      return JSON.parse(end)
    },
    async price() {
      const { inputToken, outputToken, orderType, amount } = quoteRequest(chain)
      return JSON.parse(await send('price', { inputToken, outputToken, orderType, amount }))
    },
    async results(quoteId: string): Promise<{ outcome: string; durationMs: number }[]> {
      const record = await eventually(
        async () => JSON.parse(await send(`quote/${quoteId}`)),
        ({ solvers }) => solvers !== undefined,
      )
      return record.solvers
    },
    async outcomes(quoteId: string): Promise<string[]> {
      return (await this.results(quoteId)).map(({ outcome }) => outcome).sort()
    },
    /** How often a solver was late, by the public statistics when they have all offers so far. */
    async lateByStatistics(): Promise<number> {
      const sum = (solvers: Record<string, number>[], name: string) =>
        solvers.reduce((total, solver) => total + (solver[name] ?? 0), 0)
      const offers = (await readMetrics(url)).sum('aggregator_solver_outcomes_total', { outcome: 'quoted' })
      const { solvers } = await eventually(
        async () => JSON.parse(await send('solvers/stats?window=24h')),
        (stats) => sum(stats.solvers, 'quoted') === offers,
      )
      return sum(solvers, 'late')
    },
    openBreakers: async () => (await readMetrics(url)).sum('aggregator_solver_circuit_open'),
    /** Stops the process until the deadline of a round is well over. */
    async standStillPast(deadline: number, meanwhile: () => void) {
      running.signal('SIGSTOP')
      await eventually(
        async () => readFileSync(statusFile, 'utf8'),
        (status) => status.includes(') T '),
      )
      meanwhile()
      await eventually(
        async () => Date.now() > deadline + PAST_DEADLINE_MS,
        (isOver) => isOver,
      )
      running.signal('SIGCONT')
    },
  }
}

/** The next round asks all solvers but the prompt one, which then wait for `answer`. */
function holdNextRound() {
  const { opened, open } = deferred()
  const asked = deferred()
  let deadline = 0
  let waiting = 0
  const hold = async () => {
    if (++waiting === SOLVERS - 1) asked.open()
    await opened
  }
  endpoint.behave(async (ask, solver, exchange) => {
    deadline = Number(exchange.request.headers['x-request-deadline'])
    await hold()
    return honest()(ask, solver, exchange)
  })
  for (const session of sessions)
    session.behave(async (...ask) => {
      await hold()
      return offering('1000')(...ask)
    })
  return { asked: asked.opened, answer: open, deadline: () => deadline }
}

/** Has the service stand still over the end of a round, while all solvers answer. */
async function offersOver<T>(request: () => Promise<T>): Promise<T> {
  const held = holdNextRound()
  const answer = request()
  await held.asked
  await service.standStillPast(held.deadline(), held.answer)
  return answer
}

it.each([
  ['a quote', async () => (await service.quote()).offers],
  ['a quote after its soft deadline', async () => (await service.quote({ softDeadlineMs: 500 })).offers],
  ['a stream', async () => (await service.streamedEnd()).quoted],
  ['a price', async () => (await service.price()).offers],
])('offers for %s that arrive while the process stands still count', async (_, request) => {
  expect(await offersOver(request)).toBe(SOLVERS)
  expect(await service.openBreakers()).toBe(0)
})

it('the response time of such an offer does not include the pause', async () => {
  const { quoteId } = await offersOver(() => service.quote())
  for (const { durationMs } of await service.results(quoteId))
    expect(durationMs).toBeLessThan(QUOTE_TIMEOUT_MS)
})

it('a solver that does not answer meanwhile is not late, and its circuit breaker stays closed', async () => {
  for (let round = 0; round < 3; round++) {
    const { asked, deadline } = holdNextRound()
    const quote = service.quote()
    await asked
    await service.standStillPast(deadline(), () => {})
    const { quoteId, offers } = await quote
    expect(offers).toBe(1)
    expect(await service.outcomes(quoteId)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED', 'QUOTED'])
  }
  expect(await service.openBreakers()).toBe(0)
  await haveAllAnswer()
  expect(await service.lateByStatistics()).toBe(0)
})

it('a solver that does not answer is late while the process runs', async () => {
  endpoint.behave(hang)
  for (const session of sessions) session.behave(silent)
  const { quoteId, offers } = await service.quote()
  expect(offers).toBe(1)
  expect(await service.outcomes(quoteId)).toEqual(['LATE', 'LATE', 'LATE', 'QUOTED'])
})
