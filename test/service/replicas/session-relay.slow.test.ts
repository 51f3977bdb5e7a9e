import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { openReplicas } from '../../support/replicas/replicas.js'
import { startService, type TestService } from '../../support/service/service.js'
import {
  offering,
  openSession,
  type SessionBehaviour,
  type SessionSolver,
  silent,
} from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'
import { cabledReplica, RELAYING } from './relay.js'

const [account, other] = solverAccounts
const TIMEOUT_MS = 2000

let sessions: SessionSolver[] = []

const chain = await shared(startModelChain({ bonded: 2 }))
const path = `/v1/${chain.chainId}`

afterEach(() => {
  for (const session of sessions) session.leave()
  sessions = []
})

async function open({ url }: TestService, behaviour: SessionBehaviour) {
  const session = await openSession(url, chain, account, { behaviour })
  sessions.push(session)
  return session
}
async function registerEndpoint(service: TestService, solverAccount: typeof account, output: string) {
  const solver = await startSolver(chain, solverAccount, honest({ output }))
  onTestFinished(() => solver.close())
  await solver.register(service)
}
const quoteAt = (service: TestService) => service.post(`${path}/quote`, quoteRequest(chain))
const recordAt = async (service: TestService, quoteId: string) =>
  (await service.get(`${path}/quote/${quoteId}`)).body
const untilOffered = (service: TestService, outputAmount: string) =>
  eventually(
    () => quoteAt(service),
    ({ body }) => body.quote?.outputAmount === outputAmount,
  )
/** The result of this solver in the record of a quote. */
const resultOf = (
  { solvers }: { solvers: { solver: string; outcome: string }[] },
  { address }: typeof account,
) => solvers.find(({ solver }) => solver === address)
/** Offers 400 for the next request, but not before `answer` is called. */
function holdAnswer(session: SessionSolver) {
  let answer = () => {}
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve
  })
  const isAsked = new Promise<void>((resolve) => {
    session.behave(async (ask, signer) => {
      resolve()
      await mayAnswer
      return offering('400')(ask, signer)
    })
  })
  return { isAsked, answer }
}
/** The quotes of two replicas, of which the first holds the session. */
async function startTwo() {
  const replicas = await openReplicas(chain)
  const a = await replicas.start(RELAYING)
  const b = await replicas.start(RELAYING)
  return { replicas, a, b }
}

it('a quote at any replica asks a solver that is connected to any other, which gets its result', async () => {
  const { replicas, a, b } = await startTwo()
  const c = await replicas.start()
  const session = await open(b, offering('200'))
  for (const service of [a, b, c]) {
    const { body } = await untilOffered(service, '200')
    const result = resultOf(await recordAt(service, body.quoteId), account)
    expect(result).toMatchObject({ outcome: 'QUOTED', rank: 1 })
  }
  await eventually(
    async () => session.messages.filter(({ type }) => type === 'result'),
    (results) => results.length === session.count('quoteRequest'),
  )
  expect(session.messages.filter(({ type }) => type === 'result').at(-1)).toMatchObject({ rank: 1 })
  expect(session.messages.filter(({ type }) => type === 'result')).not.toContainEqual(
    expect.objectContaining({ outcome: expect.not.stringContaining('QUOTED') }),
  )
  const [request] = session.messages.filter(({ type }) => type === 'quoteRequest')
  const asked = session.messages.filter(({ type }) => type === 'quoteRequest').at(-1)
  expect(Object.keys(asked ?? {}).sort()).toEqual(Object.keys(request ?? {}).sort())
})

it('a solver that does not answer at another replica is LATE, in its record, its result and the metrics', async () => {
  const { a, b } = await startTwo()
  await registerEndpoint(b, other, '100')
  const session = await open(a, offering('200'))
  await untilOffered(b, '200')
  session.behave(silent)
  // On a busy machine the answer may need longer than the time that is left for its way.
  const record = await eventually(
    async () => recordAt(b, (await quoteAt(b)).body.quoteId),
    (recorded) => resultOf(recorded, account)?.outcome === 'LATE',
  )
  expect(record.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS)
  await eventually(
    async () => session.messages.filter(({ type }) => type === 'result').at(-1),
    (result) => result?.outcome === 'LATE',
  )
  expect(await b.metric('aggregator_solver_outcomes_total', { outcome: 'late' })).toBe(1)
})

it('a session that moves to another replica answers what it was asked before, and then ends', async () => {
  const { replicas, a, b } = await startTwo()
  const c = await replicas.start(RELAYING)
  const session = await open(a, offering('200'))
  await untilOffered(b, '200')
  const { isAsked, answer } = holdAnswer(session)
  const quoted = quoteAt(b)
  await isAsked
  const next = await open(c, offering('300'))
  await untilOffered(b, '300')
  next.behave(silent)
  answer()
  expect((await quoted).body.quote.outputAmount).toBe('400')
  expect(await session.ended).toMatchObject({ reason: 'SESSION_REPLACED' })
  expect(session.messages.filter(({ type }) => type === 'result').at(-1)).toMatchObject({ outcome: 'QUOTED' })
})

describe('when the way from another replica to the holder breaks', () => {
  async function startCabled() {
    const replicas = await openReplicas(chain)
    const { cable, environment } = await cabledReplica()
    replicas.closing(cable)
    const a = await replicas.start(environment)
    const b = await replicas.start(RELAYING)
    return { cable, a, b }
  }
  const downAt = (service: TestService) => service.metric('aggregator_replicas_unreachable', {})

  it('and the holder is silent, requests end as CANCELLED when a check has failed, and no breaker opens', async () => {
    const { cable, a, b } = await startCabled()
    await registerEndpoint(b, other, '100')
    await open(a, offering('200'))
    await untilOffered(b, '200')
    cable.silence()
    const rounds = await Promise.all(Array.from({ length: 8 }, () => quoteAt(b)))
    const results: unknown[] = []
    for (const { body } of rounds) {
      expect(body.quote.outputAmount).toBe('100')
      const result = resultOf(await recordAt(b, body.quoteId), account)
      // On a busy machine, a round may begin after the check has failed: it does not ask the solver.
      if (result !== undefined) results.push(result)
    }
    const unreached = expect.objectContaining({ outcome: 'CANCELLED', reason: 'replica_unreachable' })
    expect(results.length).toBeGreaterThan(0)
    expect(results).toEqual(results.map(() => unreached))
    await eventually(
      () => downAt(b),
      (down) => down === 1,
    )
    const { body } = await quoteAt(b)
    expect(resultOf(await recordAt(b, body.quoteId), account)).toBeUndefined()
    await untilOffered(a, '200')
    cable.restore()
    await untilOffered(b, '200')
    expect(await downAt(b)).toBe(0)
    expect(await b.metric('aggregator_replica_requests_total', { result: 'failed' })).toBe(results.length)
    expect(await b.metric('aggregator_solver_outcomes_total', { outcome: 'late' })).toBe(0)
  })
})

it('a holder that shuts down answers the requests of other replicas that it has sent', async () => {
  const replicas = await openReplicas(chain)
  const b = await replicas.start(RELAYING)
  const a = await startService(chain, { DATABASE_URL: replicas.databaseUrl, ...RELAYING })
  const session = await open(a, offering('200'))
  await untilOffered(b, '200')
  const { isAsked, answer } = holdAnswer(session)
  const quoted = quoteAt(b)
  await isAsked
  const closed = a.close()
  await session.next('goAway')
  answer()
  expect((await quoted).body.quote.outputAmount).toBe('400')
  await closed
  expect((await quoteAt(b)).status).toBe(503)
})
