import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { solverAccounts, type TestChain } from '../support/chain/chain.js'
import { createTraffic } from '../support/chain/event-traffic.js'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { startModelChain } from '../support/model-chain/start-model-chain.js'
import { itSlow } from '../support/rounds.js'
import { environmentFor, sendTo } from '../support/service/service.js'
import { quoteRequest } from '../support/solvers/quote-request.js'
import { startSolver } from '../support/solvers/solver.js'
import { webSocket } from '../support/streams/transports.js'

const PRELOAD = new URL('../support/process/entered-files.mjs', import.meta.url).href
const SOURCE = /`((?:src|packages\/\w+\/src)\/[\w/-]+\.ts)`/g
/** Work that is put off may run within one round, and hardly within all. */
const ROUNDS = 4

/** The parts of a page, each with the files that it names, in their order. */
const partsOf = (page: string): string[][] =>
  readFileSync(page, 'utf8')
    .split(/^## /m)
    .map((part) => [...part.matchAll(SOURCE)].map(([, path = '']) => path))

type Service = Awaited<ReturnType<typeof start>>

/** A service that runs from its sources and says which of them it enters. */
async function start(chain: TestChain, environment: Record<string, string>) {
  const port = await freePort()
  const variables = { ...environmentFor(chain), ...environment, PORT: String(port), LOG_LEVEL: 'info' }
  const child = fork('src/main.ts', [], {
    execArgv: ['--import', 'tsx', '--import', PRELOAD],
    env: { PATH: process.env.PATH, ...variables },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const kill = () => void child.kill('SIGKILL')
  const service = sendTo(`http://127.0.0.1:${port}`)
  const health = () =>
    service.get('/health').then(
      ({ body }) => body,
      () => ({ status: 'starting' }),
    )
  await eventually(health, ({ status }) => status === 'ok')
  return {
    ...service,
    health,
    kill,
    stopIntervals: () => void child.send('stop intervals'),
    /** The files of which a function ran since the last call. */
    async entered(): Promise<string[]> {
      child.send('entered')
      const [paths] = await once(child, 'message')
      return paths
    },
  }
}

/** The files that the services enter in every round of a step, and those that they enter in any. */
async function enteredBy(services: readonly Service[], step: (round: number) => Promise<unknown>) {
  const entered = async () =>
    new Set((await Promise.all(services.map((service) => service.entered()))).flat())
  const rounds: Set<string>[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await entered()
    await step(round)
    rounds.push(await entered())
  }
  const any = new Set(rounds.flatMap((files) => [...files]))
  return { always: [...any].filter((path) => rounds.every((files) => files.has(path))).sort(), any }
}

/** A service that neither polls its chain again nor does anything at intervals: nothing runs but what is asked for. */
async function startQuiet(chain: TestChain): Promise<Service> {
  const service = await start(chain, {
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '600000',
    QUOTE_TIMEOUT_MS: '5000',
    QUOTE_SOFT_TIMEOUT_MS: '5000',
    RATE_LIMIT_QUOTE: '60',
    RATE_LIMIT_REGISTER: '60',
  })
  service.stopIntervals()
  return service
}

async function register(chain: TestChain, service: Service, index: number): Promise<void> {
  const solver = await startSolver(chain, solverAccounts[index] as (typeof solverAccounts)[0])
  onTestFinished(() => solver.close())
  await solver.register(service)
}

describe('of a service whose chain stands still', () => {
  let chain: TestChain
  let service: Service

  beforeAll(async () => {
    chain = await startModelChain({ bonded: 2 + ROUNDS })
    service = await startQuiet(chain)
  })
  afterAll(async () => {
    service?.kill()
    await chain?.stop()
  })

  test('the page of a quote names the files that a quote enters, at most 45', async () => {
    for (const index of [0, 1]) await register(chain, service, index)
    const { always } = await enteredBy([service], async () => {
      const { status } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
      expect(status).toBe(200)
    })
    expect(always).toEqual(partsOf('docs/path-of-a-quote.md').flat().sort())
    expect(always.length).toBeLessThanOrEqual(45)
  })

  test('the page of a registration names the files that a registration enters and a quote does not, at most 40', async () => {
    const { always } = await enteredBy([service], (round) => register(chain, service, 2 + round))
    const ofQuotes = new Set(partsOf('docs/path-of-a-quote.md').flat())
    const own = always.filter((path) => !ofQuotes.has(path))
    expect(own).toEqual(partsOf('docs/path-of-a-registration.md').flat().sort())
    expect(own.length).toBeLessThanOrEqual(40)
  })
})

itSlow(
  'the page of an event names the files that an event enters at the leader and at another replica, at most 50 at each',
  async () => {
    const chain = await startModelChain({ bonded: 0 })
    onTestFinished(() => chain.stop())
    const traffic = await createTraffic(chain, { seed: 1 })
    const environment = {
      DATABASE_URL: await createPostgresDatabase(),
      [`POLL_INTERVAL_MS_${chain.chainId}`]: '500',
    }
    const leader = await start(chain, environment)
    const follower = await start(chain, environment)
    onTestFinished(() => {
      for (const { kill } of [leader, follower]) kill()
    })
    const events = webSocket.open(follower.url)
    await events.connected()
    const replicas = [leader, follower]
    const ofEvents = await enteredBy(replicas, async (round) => {
      await traffic.mine([traffic.actions.deposit(traffic.order())])
      await events.take(round + 1)
    })
    const ofOtherBlocks = await enteredBy(replicas, async () => {
      await traffic.mine([])
      const { number } = await traffic.head()
      await eventually(follower.health, ({ chains }) => chains?.[0]?.headBlock >= number)
    })
    const parts = partsOf('docs/path-of-an-event.md')
    const named = new Set(parts.flat())
    expect([...named].filter((path) => !ofEvents.always.includes(path))).toEqual([])
    expect(ofEvents.always.filter((path) => !named.has(path) && !ofOtherBlocks.any.has(path))).toEqual([])
    expect(Math.max(...parts.map((files) => files.length))).toBeLessThanOrEqual(50)
  },
)
