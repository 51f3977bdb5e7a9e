import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { solverAccounts, startChain } from '../../support/chain/chain.js'
import { createHostileClient, type HostileAnswer } from '../../support/clients/hostile-client.js'
import { createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { startServiceProcess } from '../../support/process/process.js'
import { parseMetrics, type Series } from '../../support/service/metrics.js'
import { environmentFor } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, register, startSolver } from '../../support/solvers/solver.js'

const SEED = 20_260_105
const CONCURRENCY = 16
const WARM_UP = 2000
const REQUESTS = 10_000
const HONEST_EVERY_MS = 50
const MAX_GROWTH_BYTES = 20 * 1024 * 1024
const INSIDE = /\n\s*at |\([^)]*:\d+:\d+\)|\/src\/|node_modules|file:\/\//
const NODE = { flags: ['--expose-gc'], preload: ['./test/support/process/memory-report.mjs'] }
/** Labels with the values that they may have; those of the runtime's own metrics are not of a client's making. */
const CLOSED_LABELS: Readonly<Record<string, RegExp>> = {
  method:
    /^(aggregator\.v1\.(QuoteService\/(GetQuote(Record)?|GetPrice|StreamQuotes)|ChainService\/ListChains|OrderService\/(GetOrder|ListOrders)|SolverService\/(Uni?|R|L|G)\w+)|eth_(blockNumber|call|chainId|getBlockBy(Hash|Number)|getCode|getLogs))$/,
  protocol: /^(rest|connect|grpc|grpc-web)$/,
  reason: /^([A-Z_]{2,30}|[a-z_]{0,30})$/,
  chain_id: /^31337$/,
  solver: new RegExp(`^${solverAccounts[0].address}$`, 'i'),
  outcome: /^(ok|[a-z_]{4,12})$/,
  stage: /^(prepare|solvers|verify|rank)$/,
  result: /^(written|dropped|answered|failed|accepted|rejected|unknown|OK|[A-Z_]{2,30})$/,
  state: /^(active|inactive|running|waiting)$/,
  limit: /^(client|network|instance)$/,
  library: /^(package|javascript)$/,
  step: /^(deposited|settled|refunded)$/,
  action: /^(register|unregister)$/,
  version: /^\d+\.\d+\.\d+$/,
  le: /^([\d.e-]+|\+Inf)$/,
}

const chain = await shared(startChain({ bonded: 1 }))
const service = startServiceProcess({ ...environmentFor(chain), LOG_LEVEL: 'info' }, NODE)
const [, url = ''] = await service.waitFor(/"url":"([^"]+)"/)
const http = await shared(createRawHttpClient(url))
const client = await shared(createHostileClient(url, SEED))
const solver = await shared(startSolver(chain, solverAccounts[0], honest()))
const post = async (path: string, body: unknown) => {
  const answer = await http.json('POST', path, body)
  return { status: answer.status, body: answer.text, headers: new Headers() }
}
await register({ post }, chain.chainId, solver.account, { endpointUrl: solver.endpointUrl })

afterAll(async () => {
  service?.signal('SIGKILL')
  await service?.exited
})

let reports = 0

async function memory() {
  service.signal('SIGUSR2')
  const report = new RegExp(`memory ${++reports}: heapUsed (\\d+) rss (\\d+) end`)
  const [, heapUsed, rss] = await service.waitFor(report)
  return { heapUsed: Number(heapUsed), rss: Number(rss) }
}

/** Sends this many hostile requests, and requests honest quotes all the time. */
async function attack(count: number) {
  const answers: HostileAnswer[] = []
  const quotes: number[] = []
  let left = count
  let isOver = false
  const attackers = Array.from({ length: CONCURRENCY }, async () => {
    while (left-- > 0) answers.push(await client.send())
  })
  const askHonestly = async () => {
    while (!isOver) {
      quotes.push((await http.json('POST', '/v1/31337/quote', quoteRequest(chain))).status)
      await pause(HONEST_EVERY_MS)
    }
  }
  const asking = askHonestly()
  await Promise.all(attackers)
  isOver = true
  await asking
  return { answers, quotes }
}

const series = async () => parseMetrics((await http.send('GET', '/metrics')).text).all
const nameOf = ({ name, labels }: Series) => `${name}${JSON.stringify(labels)}`

/** The labels of the service's series whose values are in no closed list. */
function openLabels({ name, labels }: Series): string[] {
  if (!name.startsWith('aggregator_')) return []
  const open = Object.entries(labels).filter(([key, value]) => !CLOSED_LABELS[key]?.test(value))
  return open.map(([key, value]) => `${key}="${value}"`)
}

it('the service is unchanged after thousands of hostile requests, and serves honest clients', async ({
  annotate,
}) => {
  const warmUp = await attack(WARM_UP)
  const before = await memory()
  const seriesBefore = await series()
  const { answers, quotes } = await attack(REQUESTS)
  const after = await memory()
  const seriesAfter = await series()

  const namesBefore = seriesBefore.map(nameOf)
  const grown = seriesAfter.map(nameOf).filter((name) => !namesBefore.includes(name))
  await annotate(
    `${quotes.length} honest quotes; before ${JSON.stringify(before)}, after ${JSON.stringify(after)}`,
  )

  expect(answers).toHaveLength(REQUESTS)
  expect(answers.filter(({ status }) => status >= 500)).toEqual([])
  expect(answers.filter(({ text }) => INSIDE.test(text))).toEqual([])
  expect(answers.filter(({ status }) => status >= 400).length).toBeGreaterThan(REQUESTS / 4)
  const all = [...warmUp.quotes, ...quotes]
  expect(all.length).toBeGreaterThan(10)
  expect(all.filter((status) => status !== 200)).toEqual([])

  expect(after.heapUsed - before.heapUsed).toBeLessThan(MAX_GROWTH_BYTES)
  expect(seriesAfter.flatMap(openLabels)).toEqual([])
  expect(grown.filter((name) => !/^(aggregator|nodejs)_/.test(name))).toEqual([])
  expect(service.output()).not.toContain('uncaught error: draining')
  expect(await Promise.race([service.exited, pause(0, 'running')])).toBe('running')
})
