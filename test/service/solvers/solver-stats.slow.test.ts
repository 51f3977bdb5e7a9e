import { afterEach, describe, expect, it } from 'vitest'
import { BOND, solverAccounts } from '../../support/chain/chain.js'
import { databases, type TestDatabase } from '../../support/databases/service-databases.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startReplicas } from '../../support/replicas/replicas.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver } from '../../support/solvers/solver.js'

const COUNTS = ['asked', 'quoted', 'declined', 'invalid', 'failed', 'late', 'won', 'wonAlone'] as const
const QUOTE_TIMEOUT_MS = 2000

type Counts = Record<(typeof COUNTS)[number], number>

const decline: Behaviour = async (_ask, _solver, { response }) => void response.writeHead(422).end()
const invalid: Behaviour = async (ask, { quoteFor, sign }) => sign({ ...quoteFor(ask), user: ask.inputToken })
const fail: Behaviour = async (_ask, _solver, { response }) => void response.destroy()
const silent: Behaviour = async () => undefined

const chain = await shared(startModelChain({ bonded: 3 }))
const solvers = await Promise.all(
  solverAccounts.slice(0, 3).map((account) => shared(startSolver(chain, account))),
)

const path = (rest = '') => `/v1/${chain.chainId}/solvers${rest}/stats`
const ask = (service: TestService) => service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))

async function listStats(service: TestService) {
  const { status, body } = await service.get(`${path()}?window=24h`)
  expect(status).toBe(200)
  return body.solvers as ({ solver: string; medianResponseMs?: number; p95ResponseMs?: number } & Counts)[]
}

const countsOf = (stats: Counts): Counts =>
  Object.fromEntries(COUNTS.map((count) => [count, stats[count]])) as Counts

/** The counts of the solvers in their order, once these requests have all been counted. */
async function untilAsked(service: TestService, asked: number): Promise<Counts[]> {
  const sum = (all: readonly Counts[]) => all.reduce((total, stats) => total + stats.asked, 0)
  const listed = await eventually(
    () => listStats(service),
    (all) => sum(all) >= asked,
  )
  return solvers.map(({ account }) => {
    const stats = listed.find(({ solver }) => solver === account.address)
    if (stats === undefined) throw new Error('a solver is not listed')
    return countsOf(stats)
  })
}

/** Counts the results of records, as statistics count them. */
async function countRecords(service: TestService, quoteIds: readonly string[]): Promise<Counts[]> {
  const counts = solvers.map(() => Object.fromEntries(COUNTS.map((count) => [count, 0])) as Counts)
  for (const quoteId of quoteIds) {
    const { body } = await eventually(
      () => service.get(`/v1/${chain.chainId}/quote/${quoteId}`),
      ({ status }) => status === 200,
    )
    for (const { solver, outcome, rank } of body.solvers) {
      const own = counts[solvers.findIndex(({ account }) => account.address === solver)]
      const name = outcome.toLowerCase() as keyof Counts
      if (own === undefined || name === ('cancelled' as string)) continue
      own[name]++
      own.asked++
      const isAlone = !body.solvers.some((other: { rank?: number }) => other.rank === 2)
      if (rank === 1) own[isAlone ? 'wonAlone' : 'won']++
    }
  }
  return counts
}

describe.each(databases)('statistics of solvers in %s', (_kind, make) => {
  let database: TestDatabase
  let service: TestService

  async function start(): Promise<void> {
    service = await startService(chain, {
      ...database.environment,
      QUOTE_TIMEOUT_MS: `${QUOTE_TIMEOUT_MS}`,
    })
  }

  afterEach(async () => {
    await service.close()
    await database.drop()
  })

  it('count each result once, agree with the records and stay after a restart', async () => {
    database = await make()
    await start()
    for (const solver of solvers) await solver.register(service)
    const behaviours = [
      [honest({ output: '3000' }), honest({ output: '2000' }), decline],
      [honest({ output: '1000' }), honest({ output: '2000' }), invalid],
      [fail, honest({ output: '2000' }), silent],
      [invalid, decline, honest({ output: '1000' })],
    ]
    const ids: string[] = []
    for (const round of behaviours) {
      for (const [index, behaviour] of round.entries()) solvers[index]?.behave(behaviour)
      ids.push((await ask(service)).body.quoteId)
    }
    const expected = [
      { asked: 4, quoted: 2, declined: 0, invalid: 1, failed: 1, late: 0, won: 1, wonAlone: 0 },
      { asked: 4, quoted: 3, declined: 1, invalid: 0, failed: 0, late: 0, won: 1, wonAlone: 1 },
      { asked: 4, quoted: 1, declined: 1, invalid: 1, failed: 0, late: 1, won: 0, wonAlone: 1 },
    ]
    expect(await untilAsked(service, 12)).toEqual(expected)
    expect(await countRecords(service, ids)).toEqual(expected)
    const { body } = await service.get(path(`/${solvers[2]?.account.address.toLowerCase()}`))
    expect(countsOf(body.stats)).toEqual(expected[2])
    expect(body.hours.map(countsOf)).toEqual([expected[2]])
    expect(body.stats).toMatchObject({ circuitBreaker: 'CLOSED', totalBond: `${BOND}` })

    for (const solver of solvers) solver.behave(honest())
    await ask(service)
    await service.close()
    await start()
    const again = await untilAsked(service, 15)
    expect(again.map(({ asked }) => asked)).toEqual([5, 5, 5])
    expect((await listStats(service)).map((stats) => 'totalBond' in stats)).toEqual([true, true, true])
  })
})

it('statistics of three replicas are the sums of all, at each replica', async () => {
  const { services } = await startReplicas(chain)
  for (const solver of solvers) {
    solver.behave(honest())
    await solver.register(services[0])
  }
  for (const [index, service] of services.entries()) {
    await eventually(
      () => service.get(`/v1/${chain.chainId}/solvers`),
      ({ body }) => body.length === 3,
    )
    for (let count = 0; count <= index; count++) expect((await ask(service)).status).toBe(200)
  }
  for (const service of services) {
    const counts = await untilAsked(service, 18)
    expect(counts.map(({ asked, quoted }) => [asked, quoted])).toEqual(solvers.map(() => [6, 6]))
    expect(counts.reduce((sum, { won }) => sum + won, 0)).toBe(6)
  }
})
