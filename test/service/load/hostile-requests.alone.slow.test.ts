import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startServiceProcess } from '../../support/process/process.js'
import { environmentFor } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, register, startSolver } from '../../support/solvers/solver.js'
import { createHostileClient, type HostileAnswer, MARK } from './hostile-client.js'

const SEED = 20_260_105
const CONCURRENCY = 16
const WARM_UP = 2000
const REQUESTS = 10_000
const HONEST_EVERY_MS = 50
const MAX_GROWTH_BYTES = 20 * 1024 * 1024
const INSIDE = /\n\s*at |\([^)]*:\d+:\d+\)|\/src\/|node_modules|file:\/\//
const NODE = { flags: ['--expose-gc'], preload: ['./test/service/load/memory-report.mjs'] }

const chain = await shared(startModelChain({ bonded: 1 }))
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

const metrics = async () => (await http.send('GET', '/metrics')).text

it('the service is unchanged after thousands of hostile requests, and serves honest clients', async ({
  annotate,
}) => {
  const warmUp = await attack(WARM_UP)
  const before = await memory()
  const { answers, quotes } = await attack(REQUESTS)
  const after = await memory()
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
  expect(await metrics()).not.toContain(MARK)
  expect(service.output()).not.toContain('uncaught error: draining')
  expect(await Promise.race([service.exited, pause(0, 'running')])).toBe('running')
})
