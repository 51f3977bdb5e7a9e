import pg from 'pg'
import type { Benchmark, Result } from './benchmark.js'
import { startBuiltReplicas } from './built-replicas.js'
import { NO_LIMITS } from './built-service.js'
import { onChattyChain } from './chatty-chain.js'
import { type DatabaseServer, startDatabaseServer } from './database-server.js'
import { measureDatabase, measureFlush } from './database-work.js'
import { measureEvents, measureFailover } from './replica-events.js'
import { measureCounting, measureStores, measureThroughput, SOLVERS } from './replica-quotes.js'
import { measureRegistration } from './replica-registration.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'

const REPLICAS = 3

/** The performance of several replicas on one PostgreSQL. */
export const replicas: Benchmark = {
  name: 'replicas',
  about:
    `Replicas on one PostgreSQL. It shares the cores with them, the callers and the solvers, so ${REPLICAS} replicas ` +
    `cannot do ${REPLICAS} times as much here. Quotes are of ${SOLVERS} solvers, and each quote's record is written. A ` +
    'ratio compares throughput with the row before. PostgreSQL does not wait for the disk here: with such a wait, each ' +
    'commit takes one flush longer.',
  async collectMetrics() {
    const server = await startDatabaseServer()
    try {
      const fixture = await measureOnMarket(server)
      const events = await measureOnChattyChain(server)
      const database = await measureDatabase(server, fixture.record)
      return joined([...fixture.results, ...events, database, await measureFlush()])
    } finally {
      await server.stop()
    }
  },
}

/** With one more bonded solver than are asked for quotes. */
async function measureOnMarket(server: DatabaseServer) {
  const fixture = await startSolverFixture(SOLVERS + 1)
  try {
    const alone = [await measureStores(fixture, server), await measureCounting(fixture, server)]
    const { results, record } = await measureFleet(fixture, server)
    return { results: [...alone, ...results], record }
  } finally {
    await fixture.stop()
  }
}

async function measureFleet(fixture: SolverFixture, server: DatabaseServer) {
  const { chain } = fixture
  const databaseUrl = await server.createDatabase()
  const fleet = await startBuiltReplicas({ chain, databaseUrl, size: REPLICAS, environment: NO_LIMITS })
  try {
    const registration = await measureRegistration(fixture, fleet, SOLVERS)
    await fixture.register(fleet.replicas()[0]?.url ?? '', 0, SOLVERS)
    const throughput = await measureThroughput(fixture, server, fleet)
    return { results: [throughput, registration], record: await anyRecord(databaseUrl) }
  } finally {
    await fleet.stop()
  }
}

async function anyRecord(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query(
      'select record from quote_records order by requested_at_ms desc limit 1',
    )
    return rows[0].record
  } finally {
    await client.end()
  }
}

function measureOnChattyChain(server: DatabaseServer): Promise<Result[]> {
  return onChattyChain(async (chain) => {
    const databaseUrl = await server.createDatabase()
    const environment = { [`RPC_URL_${chain.chainId}`]: chain.devnet.rpcUrl.replace('http', 'ws') }
    const fleet = await startBuiltReplicas({ chain, databaseUrl, size: REPLICAS, environment })
    try {
      return [await measureEvents(chain, fleet, databaseUrl), await measureFailover(chain, fleet)]
    } finally {
      await fleet.stop()
    }
  })
}

function joined(results: readonly Result[]): Result {
  return {
    rows: results.flatMap(({ rows }) => rows),
    findings: results.flatMap(({ findings }) => findings),
  }
}
