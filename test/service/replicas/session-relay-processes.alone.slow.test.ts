import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { RELAYING } from '../../support/replicas/relay.js'
import { type Replica, startReplicaProcesses } from '../../support/replicas/replica-processes.js'
import { openReplicas } from '../../support/replicas/replicas.js'
import { offering, openSession } from '../../support/sessions/session-solver.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, signedRegistration, startSolver } from '../../support/solvers/solver.js'

const TIMEOUT_MS = 60_000
/** A check fails after a second, and begins up to half a second after the freeze. The rest is for a busy machine. */
const NOTICED_MS = 2500
const QUICK_MS = 500
const [account, withEndpoint] = solverAccounts

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
})
afterAll(() => chain?.stop())

/** Three replicas that ask each other, a session at the first one, and a solver with an endpoint. */
async function startFleet() {
  const { databaseUrl } = await openReplicas(chain)
  const fleet = await startReplicaProcesses(chain, databaseUrl, {
    environment: { ...RELAYING, QUOTE_TIMEOUT_MS: '5000' },
  })
  onTestFinished(fleet.stop)
  const [a, b, c] = fleet.replicas as [Replica, Replica, Replica]
  const solver = await startSolver(chain, withEndpoint, honest({ output: '50' }))
  onTestFinished(() => solver.close())
  const registration = await signedRegistration(withEndpoint, { endpointUrl: solver.endpointUrl })
  expect((await b.post(`/v1/${chain.chainId}/solvers/register`, registration)).status).toBe(200)
  const session = await open(a, '200')
  for (const replica of [a, b, c]) await untilBest(replica, '200')
  return { a, b, c, session }
}
async function open(replica: Replica, output: string) {
  const session = await openSession(replica.url, chain, account, { behaviour: offering(output) })
  onTestFinished(session.leave)
  return session
}
const quoteAt = async (replica: Replica) => {
  const startedAt = performance.now()
  const { body } = await replica.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  return { best: body.quote?.outputAmount, quoteId: body.quoteId, tookMs: performance.now() - startedAt }
}
const untilBest = (replica: Replica, output: string) =>
  eventually(
    () => quoteAt(replica),
    ({ best }) => best === output,
  )

it(
  'a frozen holder costs quotes at the others one failed check, counts for nothing, and is asked again when it goes on',
  async () => {
    const { a, b, c, session } = await startFleet()
    a.freeze()
    onTestFinished(() => void a.thaw())
    const frozenAt = performance.now()
    for (const replica of [b, c]) {
      const first = await quoteAt(replica)
      expect(first).toMatchObject({ best: '50' })
      const { body } = await replica.get(`/v1/${chain.chainId}/quote/${first.quoteId}`)
      const [, missed] = body.solvers
      if (missed !== undefined)
        expect(missed).toMatchObject({ outcome: 'CANCELLED', reason: 'replica_unreachable' })
    }
    expect(performance.now() - frozenAt).toBeLessThan(2 * NOTICED_MS)
    for (const replica of [b, c]) {
      expect((await quoteAt(replica)).tookMs).toBeLessThan(QUICK_MS)
      expect(await replica.metric('aggregator_replicas_unreachable')).toBe(1)
    }
    a.thaw()
    for (const replica of [a, b, c]) await untilBest(replica, '200')
    for (const replica of [b, c]) expect(replica.output()).not.toContain('its circuit breaker opens')
    expect(session.count('error')).toBe(0)
  },
  TIMEOUT_MS,
)

it(
  'a killed holder costs quotes at the others no wait, and its solver is asked again after it has connected anywhere',
  async () => {
    const { a, b, c, session } = await startFleet()
    await a.kill()
    await session.ended
    for (const replica of [b, c])
      for (let quote = 0; quote < 10; quote++) {
        const { best, tookMs } = await quoteAt(replica)
        expect(best).toBe('50')
        expect(tookMs).toBeLessThan(QUICK_MS)
      }
    await open(c, '300')
    for (const replica of [b, c]) await untilBest(replica, '300')
    await a.start()
    await untilBest(a, '300')
  },
  TIMEOUT_MS,
)
