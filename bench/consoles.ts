import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeAbiParameters, keccak256, parseAbiParameters } from 'viem'
import { CHROMIUM } from '../test/support/packages/chromium.js'
import type { Benchmark, Result, Row } from './benchmark.js'
import { type BuiltService, NO_LIMITS, startBuiltService } from './built-service.js'
import { type ChattyChain, onChattyChain } from './chatty-chain.js'
import { quantile } from './load.js'
import { gather } from './many-clients.js'
import { cpuSecondsOf } from './process-cpu.js'
import { residentBytes } from './process-memory.js'
import {
  type ConsoleRecord,
  RECORDED_CONSOLES,
  RECORDED_SECONDS,
  recordConsoles,
  repeatConsoles,
  STEP_SECONDS,
} from './recorded-console.js'

/** For how many clients the figures are. */
const CONSOLES = 200
/** How many times as many are measured: what a service spends without clients varies by more than 200 of them cost. */
const FACTOR = 25
const MEASURED = CONSOLES * FACTOR
/** Of a turn, which emits them all itself: a turn with one more would cost an eighth more. */
const EVENTS = 8
const EVENT_EVERY_MS = 2000
/** Of a turn: the health of the chains comes about every 15 s, so each console gets it once. */
const SECONDS = (EVENTS * EVENT_EVERY_MS) / 1000
/** What is connected is measured equally often at each place of a round. */
const ROUNDS = 6
/** While consoles are recorded, so that events do not wait for it. */
const FAST_POLL_MS = '20'
/** Clients have connected, or left. */
const SETTLE_MS = 1500

/** What a console adds to the address of a stream. */
const WITH_HEALTH = '?health=true'

const OF_CLIENTS = `CPU % of ${CONSOLES} clients`

const CONNECTED = ['streams', 'consoles', 'streams again'] as const
type Clients = 'nothing' | (typeof CONNECTED)[number]

/** What an instance spends on open consoles. */
export const consoles: Benchmark = {
  name: 'consoles',
  about:
    `${MEASURED.toLocaleString('en')} clients of the event stream, and as many with the streams and the requests of ` +
    `consoles, in turns of ${SECONDS} s with ${EVENTS} deposits. The requests are those of ` +
    `${RECORDED_CONSOLES} consoles in Chromium that no one touches. They show the market for ${RECORDED_SECONDS / 3600} hours of ` +
    `their clocks, with a deposit every ${STEP_SECONDS} s. The CPU is that of the service. That of ${CONSOLES} clients is the part for so many of what the service ` +
    'spends more than without clients, compared within each round. `streams again` shows the noise.',
  async collectMetrics() {
    if (!existsSync(CHROMIUM))
      return { rows: [{ clients: `not measured: no Chromium at ${CHROMIUM}` }], findings: [] }
    return onChattyChain(async (chain) => {
      const nextSeed = depositSeeds()
      const emitEvent = () => chain.emitEvents({ events: 1, seed: nextSeed() })
      const fast = { [`POLL_INTERVAL_MS_${chain.chainId}`]: FAST_POLL_MS }
      const records = await onService(chain, fast, ({ url }) => recordConsoles(url, emitEvent))
      const turns = await onService(chain, {}, (service) => measureTurns(service, records, emitEvent))
      return conclude(turns, records)
    })
  },
}

async function onService<T>(
  chain: ChattyChain,
  environment: Record<string, string>,
  work: (service: BuiltService) => Promise<T>,
): Promise<T> {
  const limits = { ...NO_LIMITS, RATE_LIMIT_PRICE: '0', MAX_STREAM_CLIENTS_PER_IP: '0' }
  const service = await startBuiltService(chain, { ...limits, ...environment })
  try {
    return await work(service)
  } finally {
    await service.stop()
  }
}

/** One turn: the CPU in seconds per second, and the memory in MB. */
interface Turn {
  readonly clients: Clients
  readonly cpu: number
  readonly megabytes: number
}

async function measureTurns(
  service: BuiltService,
  records: readonly ConsoleRecord[],
  emitEvent: () => Promise<unknown>,
): Promise<Turn[]> {
  const turns: Turn[] = []
  async function measure(clients: Clients): Promise<void> {
    const before = await cpuSecondsOf(service)
    const part = { count: MEASURED, fromMs: turns.length * SECONDS * 1000, seconds: SECONDS }
    const requests = clients === 'consoles' ? repeatConsoles(service.url, records, part) : undefined
    await Promise.all([requests, emitEvents(emitEvent)])
    const cpu = ((await cpuSecondsOf(service)) - before) / SECONDS
    turns.push({ clients, cpu, megabytes: residentBytes(service.pid) / 1e6 })
  }
  for (let round = 0; round < ROUNDS; round++) {
    await measure('nothing')
    for (let place = 0; place < CONNECTED.length; place++) {
      const clients = CONNECTED[(round + place) % CONNECTED.length] ?? 'streams'
      const query = clients === 'consoles' ? WITH_HEALTH : ''
      const crowd = await gather(service.socketUrl + query, { size: MEASURED, isGreeted: true })
      await delay(SETTLE_MS)
      await measure(clients)
      await crowd.leave()
      await delay(SETTLE_MS)
    }
  }
  return turns
}

function conclude(turns: readonly Turn[], records: readonly ConsoleRecord[]): Result {
  const of = (clients: Clients) => turns.filter((turn) => turn.clients === clients)
  const percent = (...names: Clients[]) => {
    const all = names.flatMap(of).map(({ cpu }) => 100 * cpu)
    return quantile(all, 0.5)
  }
  const idle = percent('nothing')
  const rows = (['nothing', ...CONNECTED] as const).map((clients): Row => {
    return {
      clients,
      turns: of(clients).length,
      'CPU %': percent(clients),
      [OF_CLIENTS]: (percent(clients) - idle) / FACTOR,
      MB: Math.round(Math.max(...of(clients).map(({ megabytes }) => megabytes))),
    }
  })
  /** Compared within each round, since the speed of a machine differs between rounds more than within one. */
  const relative = (clients: Clients, ...to: Clients[]) => {
    const cpuOf = (name: Clients, round: number) => of(name)[round]?.cpu ?? Number.NaN
    const excess = (name: Clients, round: number) => cpuOf(name, round) - cpuOf('nothing', round)
    const ratios = Array.from({ length: ROUNDS }, (_, round) => {
      const references = to.map((name) => excess(name, round))
      return (excess(clients, round) * to.length) / references.reduce((sum, one) => sum + one, 0)
    })
    return quantile(ratios, 0.5)
  }
  const perMinute = (60 * records.flat().length) / (RECORDED_CONSOLES * RECORDED_SECONDS)
  return {
    rows: [
      ...rows,
      { clients: 'streams again relative to streams', [OF_CLIENTS]: relative('streams again', 'streams') },
      { clients: 'requests of one console a minute', [OF_CLIENTS]: perMinute },
    ],
    findings: [
      {
        name: `${CONSOLES} consoles: CPU relative to as many stream clients`,
        value: relative('consoles', 'streams', 'streams again'),
        atMost: 1,
      },
    ],
  }
}

/** @returns the next seed whose first event is a deposit: others would be of orders that no console can know */
function depositSeeds(): () => number {
  let seed = 0
  const isDeposit = () => {
    const values = encodeAbiParameters(parseAbiParameters('uint256, uint256'), [BigInt(seed) << 64n, 0n])
    return BigInt(keccak256(values)) % 3n === 0n
  }
  return () => {
    do seed++
    while (!isDeposit())
    return seed
  }
}

/** Emits the events of a turn, and waits for its end. */
async function emitEvents(emitEvent: () => Promise<unknown>): Promise<void> {
  for (let event = 0; event < EVENTS; event++) await Promise.all([emitEvent(), delay(EVENT_EVERY_MS)])
}
