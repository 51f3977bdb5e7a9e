import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createPostgresDatabase } from '../../support/databases/postgres-database.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { startService } from '../../support/service/service.js'

/** The wait for a result ends after 10 s. */
const LONGEST_MS = 13_000
const SOLVERS = 100
/** Reads of single solvers that wait. */
const MOST_WAITING = 32
const TIMEOUT_MS = 60_000

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

it(
  'while PostgreSQL is silent, few reads of statistics wait, each for some seconds, and further ones are refused at once',
  async () => {
    const link = await startDatabaseLink(await createPostgresDatabase())
    onTestFinished(() => link.close())
    const service = await startService(chain, { DATABASE_URL: link.url })
    onTestFinished(() => service.close())
    const path = `/v1/${chain.chainId}/solvers`
    const addresses = Array.from({ length: SOLVERS }, (_, index) => `0x${String(index).padStart(40, '0')}`)
    const ofOne = addresses.map((address) => `${path}/${address}/stats?window=30d`)
    const lists = ['1h', '24h', '7d', '30d'].map((window) => `${path}/stats?window=${window}`)
    async function read(url: string) {
      const start = performance.now()
      const { status, headers, body } = await service.get(url)
      return {
        status,
        code: body.code,
        retryAfter: headers.get('retry-after'),
        ms: performance.now() - start,
      }
    }

    const { release } = link.hold('statements', 'from "solver_hours"')
    // Equal lists share a read.
    const answers = await Promise.all([...ofOne, ...lists, ...lists].map(read))
    const isRefused = ({ status }: (typeof answers)[0]) => status === 429
    const refused = answers.filter(isRefused)
    const waiting = answers.filter((answer) => !isRefused(answer))
    expect(waiting).toHaveLength(MOST_WAITING + 2 * lists.length)
    for (const answer of waiting) expect(answer).toMatchObject({ status: 503, code: 'DATABASE_UNAVAILABLE' })
    for (const answer of refused) expect(answer).toMatchObject({ code: 'RATE_LIMITED', retryAfter: '1' })
    const times = (of: typeof answers) => of.map(({ ms }) => ms)
    expect(Math.max(...times(waiting))).toBeLessThan(LONGEST_MS)
    expect(Math.max(...times(refused))).toBeLessThan(Math.min(...times(waiting)))

    release()
    await eventually(
      async () =>
        (await Promise.all([...ofOne.slice(0, 10), ...lists].map(read))).map(({ status }) => status),
      (statuses) => String(statuses) === String([...Array(10).fill(404), ...Array(4).fill(200)]),
    )
  },
  TIMEOUT_MS,
)
