import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { createPostgresDatabase } from '../../support/databases/postgres-database.js'
import { eventually } from '../../support/eventually.js'
import { type DatabaseLink, startDatabaseLink } from '../../support/faults/database-link.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'

/** Several attempts to store the counts fail in this time. */
const OUTAGE_MS = 16_000
/** No quote waits for the database: its solver answers at once. */
const LONGEST_QUOTE_MS = 800
/** Of all parts of the service, in the whole outage. */
const MOST_WARNINGS = 20
const PAUSE_MS = 20
/** In statements that store counts. */
const TEXT = 'insert into "solver_hours"'

type Counts = Record<'asked' | 'quoted' | 'wonAlone', number>

const chain = await shared(startModelChain({ bonded: 1 }))
const solver = await shared(startSolver(chain, solverAccounts[0], honest({ output: '1000' })))

const exactly = (count: number): Counts => ({ asked: count, quoted: count, wonAlone: count })

/** @returns how long the slowest quote took, in milliseconds */
async function quote(url: string, count: number): Promise<number> {
  let slowestMs = 0
  for (let done = 0; done < count; done++) {
    const start = performance.now()
    const init = { method: 'POST', body: JSON.stringify(quoteRequest(chain)) }
    const headers = { 'content-type': 'application/json' }
    const { status } = await fetch(`${url}/v1/${chain.chainId}/quote`, { ...init, headers })
    expect(status).toBe(200)
    slowestMs = Math.max(slowestMs, performance.now() - start)
  }
  return slowestMs
}

/** The counts of the solver that are stored; 0 while the database is away. */
async function readCounts(url: string): Promise<Counts> {
  const answer = await fetch(`${url}/v1/${chain.chainId}/solvers/${solver.account.address}/stats`)
  const { stats } = (await answer.json()) as { stats?: Counts }
  return {
    ...exactly(0),
    ...(stats && { asked: stats.asked, quoted: stats.quoted, wonAlone: stats.wonAlone }),
  }
}

const untilCounted = (url: string, count: number, timeoutMs?: number) =>
  eventually(
    () => readCounts(url),
    ({ asked }) => asked >= count,
    timeoutMs,
  )

/** Ways in which the database is away, each with its end. */
const OUTAGES: [kind: string, begin: (link: DatabaseLink) => () => void][] = [
  [
    'stores counts, but its answers are lost',
    (link) => {
      const { release } = link.hold('answers', TEXT)
      return () => {
        link.cut()
        release()
        link.restore()
      }
    },
  ],
]

// At the same time, because they mostly wait.
describe.concurrent('while the database', () => {
  it.for(OUTAGES)(
    '%s, quotes go on, and each counts once afterwards',
    async ([, begin], { expect, onTestFinished }) => {
      const link = await startDatabaseLink(await createPostgresDatabase(onTestFinished))
      onTestFinished(() => link.close())
      const lines: { level: number; msg: string }[] = []
      const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
      const service = await startService(chain, { DATABASE_URL: link.url }, { log })
      onTestFinished(() => service.close())
      await solver.register(service)
      await quote(service.url, 5)
      expect(await untilCounted(service.url, 5)).toEqual(exactly(5))

      const end = begin(link)
      const [first, start] = [lines.length, performance.now()]
      let [count, slowestMs] = [5, 0]
      for (; performance.now() - start < OUTAGE_MS; count++) {
        slowestMs = Math.max(slowestMs, await quote(service.url, 1))
        await pause(PAUSE_MS)
      }
      const warnings = lines.slice(first).filter(({ level }) => level >= 40)
      end()
      expect(slowestMs).toBeLessThan(LONGEST_QUOTE_MS)
      expect(await untilCounted(service.url, count)).toEqual(exactly(count))
      await quote(service.url, 5)
      expect(await untilCounted(service.url, count + 5)).toEqual(exactly(count + 5))
      await expect
        .poll(() => lines.map(({ msg }) => msg).filter((msg) => msg.startsWith('counts of solvers')))
        .toEqual([
          'counts of solvers could not be stored: they wait in memory',
          'counts of solvers are stored again',
        ])
      expect(warnings.length).toBeLessThanOrEqual(MOST_WARNINGS)
    },
  )
})
