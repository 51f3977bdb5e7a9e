import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { chromium, type Page } from 'playwright-core'
import { Agent, request } from 'undici'
import { encodeAbiParameters, keccak256, parseAbiParameters } from 'viem'
import { CHROMIUM } from '../test/support/packages/chromium.js'
import type { Benchmark, Row } from './benchmark.js'
import { type BuiltService, NO_LIMITS, startBuiltService } from './built-service.js'
import { type ChattyChain, onChattyChain } from './chatty-chain.js'
import { quantile } from './load.js'
import { gather } from './many-clients.js'
import { residentBytes } from './process-memory.js'

const CONSOLES = 200
/** Of a turn. Clients that answer no ping stay for longer. */
const SECONDS = 20
/** Of what is recorded of a console, which asks seldom. */
const RECORDED_SECONDS = 120
/** Consoles differ by chance. */
const RECORDED_CONSOLES = 4
/** Each of the four measurements is once at each place of a round. */
const ROUNDS = 4
const EVENT_EVERY_MS = 2000
/** A page has loaded all that it needs at first. */
const LOADED_MS = 5000

/** A request of a console, and when it came: milliseconds after the start of the record. */
interface RecordedRequest {
  readonly atMs: number
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

type Clients = 'nothing' | 'streams' | 'consoles' | 'streams again'

/** What an instance spends on open consoles. */
export const consoles: Benchmark = {
  name: 'consoles',
  about:
    `${CONSOLES} consoles that show the market, and as many clients of the event stream, each for ${SECONDS} s with a deposit every ` +
    `${EVENT_EVERY_MS / 1000} s. The requests of ${RECORDED_CONSOLES} consoles are recorded in Chromium for ${RECORDED_SECONDS} s. Each ` +
    'console repeats a part of a record, next to its stream. The CPU is that of the service, less what it spends without clients. ' +
    'The streams are measured twice, to show the noise.',
  async collectMetrics() {
    if (!existsSync(CHROMIUM))
      return { rows: [{ clients: `not measured: no Chromium at ${CHROMIUM}` }], findings: [] }
    return onChattyChain(async (chain) => {
      const limits = { ...NO_LIMITS, RATE_LIMIT_PRICE: '0', MAX_STREAM_CLIENTS_PER_IP: '0' }
      const service = await startBuiltService(chain, limits)
      try {
        return await compare(chain, service)
      } finally {
        await service.stop()
      }
    })
  },
}

async function compare(chain: ChattyChain, service: BuiltService) {
  let seed = 0
  const nextSeed = () => {
    do seed++
    while (!isDeposit(seed))
    return seed
  }
  const withTraffic = <T>(work: () => Promise<T>) => duringTraffic(chain, nextSeed, work)
  const records = await withTraffic(() => recordConsoles(service.url))
  const costs = { nothing: [], streams: [], consoles: [], 'streams again': [] } as Record<Clients, number[]>
  const memory = { nothing: 0, streams: 0, consoles: 0, 'streams again': 0 }
  const measure = async (name: Clients, work: () => Promise<unknown>) => {
    const before = await service.cpuSeconds()
    await withTraffic(work)
    costs[name].push(((await service.cpuSeconds()) - before) / SECONDS)
    memory[name] = Math.max(memory[name], residentBytes(service.pid) / 1e6)
  }
  const turns: readonly (() => Promise<void>)[] = [
    () => measure('nothing', () => delay(SECONDS * 1000)),
    () => measure('streams', () => onStreams(service, () => delay(SECONDS * 1000))),
    () => measure('consoles', () => onStreams(service, () => repeatRequests(service.url, records))),
    () => measure('streams again', () => onStreams(service, () => delay(SECONDS * 1000))),
  ]
  for (let round = 0; round < ROUNDS; round++)
    for (let place = 0; place < turns.length; place++) await turns[(round + place) % turns.length]?.()
  const percent = (name: Clients) => 100 * quantile(costs[name], 0.5)
  const idle = percent('nothing')
  const rows: Row[] = Object.keys(costs).map((name) => {
    const clients = name as Clients
    return {
      clients,
      'CPU %': percent(clients),
      'CPU % of the clients': percent(clients) - idle,
      MB: Math.round(memory[clients]),
    }
  })
  const perMinute = (60 * records.flat().length) / (RECORDED_CONSOLES * RECORDED_SECONDS)
  const streams = 100 * quantile([...costs.streams, ...costs['streams again']], 0.5)
  const ofStreams = (name: Clients) => (percent(name) - idle) / (streams - idle)
  return {
    rows: [
      ...rows,
      {
        clients: 'streams again relative to streams',
        'CPU % of the clients': (percent('streams again') - idle) / (percent('streams') - idle),
      },
      { clients: 'requests of one console a minute', 'CPU %': perMinute },
    ],
    findings: [
      {
        name: `${CONSOLES} consoles: CPU relative to as many stream clients`,
        value: ofStreams('consoles'),
        atMost: 1,
      },
    ],
  }
}

/** Whether the contract's first event of a seed is a deposit: others would be of orders that no console can know. */
function isDeposit(seed: number): boolean {
  const values = encodeAbiParameters(parseAbiParameters('uint256, uint256'), [BigInt(seed) << 64n, 0n])
  return BigInt(keccak256(values)) % 3n === 0n
}

/** Has the chain emit an event every few seconds while the work lasts. */
async function duringTraffic<T>(
  chain: ChattyChain,
  nextSeed: () => number,
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false
  const traffic = async () => {
    while (!isOver) {
      await chain.emitEvents({ events: 1, seed: nextSeed() })
      await delay(EVENT_EVERY_MS)
    }
  }
  const emitted = traffic()
  try {
    return await work()
  } finally {
    isOver = true
    await emitted
  }
}

/** The requests of consoles that show the market, after they have loaded. */
async function recordConsoles(url: string): Promise<RecordedRequest[][]> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  try {
    return await Promise.all(
      Array.from({ length: RECORDED_CONSOLES }, async () => recordConsole(url, await browser.newPage())),
    )
  } finally {
    await browser.close()
  }
}

async function recordConsole(url: string, page: Page): Promise<RecordedRequest[]> {
  await page.goto(`${url}/#/market`)
  await delay(LOADED_MS)
  const start = performance.now()
  const requests: RecordedRequest[] = []
  page.on('request', (made) => {
    const { pathname, search } = new URL(made.url())
    const { 'content-type': type } = made.headers()
    requests.push({
      atMs: performance.now() - start,
      method: made.method() as 'GET' | 'POST',
      path: pathname + search,
      headers: type === undefined ? {} : { 'content-type': type, 'connect-protocol-version': '1' },
      body: made.postDataBuffer(),
    })
  })
  await delay(RECORDED_SECONDS * 1000)
  return requests
}

async function onStreams(service: BuiltService, work: () => Promise<unknown>): Promise<void> {
  const crowd = await gather(service.socketUrl, { size: CONSOLES, isGreeted: true })
  try {
    await work()
  } finally {
    await crowd.leave()
  }
}

/** Repeats what consoles have requested during one turn: each is at another time of its record. */
async function repeatRequests(url: string, records: readonly RecordedRequest[][]): Promise<void> {
  const dispatcher = new Agent({ connections: CONSOLES })
  const all = Array.from({ length: CONSOLES }, (_, index) =>
    (records[index % records.length] ?? []).map(async ({ atMs, method, path, headers, body }) => {
      const shiftMs = (index / CONSOLES) * RECORDED_SECONDS * 1000
      const dueMs = (atMs + shiftMs) % (RECORDED_SECONDS * 1000)
      if (dueMs >= SECONDS * 1000) return
      await delay(dueMs)
      const response = await request(url + path, { method, headers, body, dispatcher })
      await response.body.dump()
      if (response.statusCode !== 200) throw new Error(`${method} ${path} answered ${response.statusCode}`)
    }),
  )
  await Promise.all([delay(SECONDS * 1000), ...all.flat()])
  await dispatcher.close()
}
