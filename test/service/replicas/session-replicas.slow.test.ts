import pg from 'pg'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { openReplicas } from '../../support/replicas/replicas.js'
import type { TestService } from '../../support/service/service.js'
import { offering, openSession, type SessionSolver } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

const LEASE_MS = 2000
const [account] = solverAccounts

let sessions: SessionSolver[] = []

const chain = await shared(startModelChain({ bonded: 2 }))
const path = `/v1/${chain.chainId}`

afterEach(() => {
  for (const session of sessions) session.leave()
  sessions = []
})

async function open({ url }: TestService, output: string) {
  const session = await openSession(url, chain, account, { behaviour: offering(output) })
  sessions.push(session)
  return session
}
const quoteAt = (service: TestService) => service.post(`${path}/quote`, quoteRequest(chain))
const untilOffered = async (service: TestService, outputAmount: string) =>
  (
    await eventually(
      () => quoteAt(service),
      ({ body }) => body.quote?.outputAmount === outputAmount,
    )
  ).body
const untilListed = (service: TestService, addresses: readonly string[]) =>
  eventually(
    async () =>
      (await service.get(`${path}/solvers`)).body.map(({ address }: { address: string }) => address),
    (listed) => listed.join() === addresses.join(),
  )
const isConnected = async (service: TestService) => (await service.get('/health')).body.database === 'ok'

it('a replica that is cut off from the database loses its sessions, and ends them when it is back', async () => {
  const replicas = await openReplicas(chain)
  const overrides = { replicaLeaseMs: LEASE_MS }
  const link = replicas.closing(await startDatabaseLink(replicas.databaseUrl))
  const b = await replicas.start({}, overrides)
  const a = await replicas.start({ DATABASE_URL: link.url }, overrides)
  const session = await open(a, '100')
  await untilListed(b, [account.address])
  link.cut()
  await untilListed(b, [])
  await untilOffered(a, '100')
  link.restore()
  expect(await session.ended).toMatchObject({ reason: 'DATABASE_UNAVAILABLE' })
  await eventually(
    () => open(a, '200').catch(() => undefined),
    (next) => next !== undefined,
  )
  await untilOffered(a, '200')
  await untilListed(b, [account.address])
})

it('an outage of the database for all replicas ends no session', async () => {
  const replicas = await openReplicas(chain)
  const link = replicas.closing(await startDatabaseLink(replicas.databaseUrl))
  const start = () => replicas.start({ DATABASE_URL: link.url }, { replicaLeaseMs: LEASE_MS })
  const services = [await start(), await start(), await start()] as const
  const session = await open(services[0], '100')
  for (const service of services) await untilListed(service, [account.address])
  const client = new pg.Client({ connectionString: replicas.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  const count = async (condition: string) => {
    const now = 'extract(epoch from clock_timestamp()) * 1000'
    const { rows } = await client.query(
      `select count(*)::int as count from replicas where ${condition.replaceAll('now', now)}`,
    )
    return rows[0].count
  }
  link.cut()
  await eventually(
    () => count('expires_at_ms > now'),
    (live) => live === 0,
  )
  link.restore()
  for (const service of services) await eventually(() => isConnected(service), Boolean)
  // From then on, each of them releases expired leases.
  await eventually(
    () => count(`renewed_since_ms < now - ${2 * LEASE_MS} and expires_at_ms > now`),
    (settled) => settled === services.length,
  )
  for (const service of services) await untilListed(service, [account.address])
  await untilOffered(services[0], '100')
  expect(session.count('error')).toBe(0)
})
