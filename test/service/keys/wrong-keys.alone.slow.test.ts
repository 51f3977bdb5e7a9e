import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { between } from '../../support/between.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { startHonestClient } from '../../support/clients/honest-client.js'
import { createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { eventually } from '../../support/eventually.js'
import { runKeys } from '../../support/keys/keyed-service.js'
import { startServiceProcess } from '../../support/process/process.js'
import { readMetrics } from '../../support/service/metrics.js'
import { environmentFor, sendTo } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startSolver, type TestSolver } from '../../support/solvers/solver.js'

const REQUESTS = 10_000
const CONCURRENCY = 16
/** Quotes of a stranger in a minute; a key has 20 times as many. */
const LIMIT = 100
const MAX_GROWTH_BYTES = 5 * 1024 * 1024
const NODE = { flags: ['--expose-gc'], preload: ['./test/support/process/memory-report.mjs'] }

let chain: TestChain
let solver: TestSolver
let service: ReturnType<typeof startServiceProcess>
let folder: string
let url: string
let key: string

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  folder = mkdtempSync(join(tmpdir(), 'quote-aggregator-'))
  const environment = { ...environmentFor(chain), DB_PATH: join(folder, 'service.db'), LOG_LEVEL: 'info' }
  service = startServiceProcess({ ...environment, RATE_LIMIT_QUOTE: String(LIMIT) }, NODE)
  const [, found = ''] = await service.waitFor(/"url":"([^"]+)"/)
  url = found
  solver = await startSolver(chain, solverAccounts[0])
  await solver.register(sendTo(url))
  const added = await runKeys(environment, 'add', '--label', 'acme')
  key = added.key
  // Not by quotes, which count for the address until the key is known.
  await eventually(
    () => sendTo(url).send('GET', '/v1/chains', undefined, { headers: { 'x-api-key': key } }),
    ({ status }) => status === 200,
  )
})
afterAll(async () => {
  service?.signal('SIGTERM')
  await service?.exited
  await solver?.close()
  await chain?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const metrics = () => readMetrics(url)
let reports = 0
/** The heap in use after a garbage collection, in bytes. */
async function memory(): Promise<number> {
  service.signal('SIGUSR2')
  const [, heapUsed] = await service.waitFor(new RegExp(`memory ${++reports}: heapUsed (\\d+) rss \\d+ end`))
  return Number(heapUsed)
}

/** A key that is wrong in one of the ways in which it may be, without a repetition. */
function wrongKey(index: number): string {
  const secret = randomBytes(32).toString('base64url')
  if (index % 3 === 0) return `${key.slice(0, 14)}${secret}`
  return index % 3 === 1 ? `qa_${randomBytes(5).toString('hex')}_${secret}` : `qa_${secret}`
}

it('ten thousand wrong keys cost a client with a key at the same address neither quotes nor memory', async () => {
  const http = createRawHttpClient(url)
  const body = JSON.stringify(quoteRequest(chain))
  const path = `/v1/${chain.chainId}/quote`
  const statuses: Record<number, number> = {}
  async function attack(from: number, to: number): Promise<void> {
    let next = from
    const sendAll = async () => {
      while (next < to) {
        const headers = { 'content-type': 'application/json', 'x-api-key': wrongKey(next++) }
        const { status } = await http.send('POST', path, { headers, body })
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, sendAll))
  }
  await attack(0, REQUESTS / 5)
  const before = await memory()

  const honest = startHonestClient(`${url}${path}`, quoteRequest(chain), { 'x-api-key': key })
  await attack(REQUESTS / 5, REQUESTS)
  const answers = await honest.stop()
  http.close()

  // Those up to the limit of the address are told that the key is wrong. A window may end during the attack.
  expect(Object.keys(statuses).sort()).toEqual(['401', '429'])
  expect(statuses[401]).toEqual(between(LIMIT, 3 * LIMIT))
  expect(Object.keys(answers.statuses)).toEqual(['200'])
  expect(answers.statuses[200]).toBeGreaterThan(10)
  expect(answers.slowestMs).toEqual(between(0, 2000))
  const grownBytes = (await memory()) - before
  expect(grownBytes).toEqual(between(Number.NEGATIVE_INFINITY, MAX_GROWTH_BYTES))
  const labels = (await metrics()).all.flatMap(({ labels: { key: label } }) => label ?? [])
  expect(new Set(labels)).toEqual(new Set(['acme']))
  console.log({ attacker: statuses, honest: answers, grownBytes })
})
