import type { TestChain } from '../chain/chain.js'
import type { Random } from '../random.js'
import { startService } from '../service/service.js'
import { createSubscriber } from '../streams/event-subscriber.js'
import { type FaultCounts, type Faults, startChaosProxy } from './chaos-proxy.js'

export type FaultyService = Awaited<ReturnType<typeof startFaultyService>>

export interface FaultyEndpoint {
  protocol: 'http' | 'ws'
  faults: Faults
  /** Whether it is down now and then. */
  isDownAtTimes?: boolean
}

/** In percent of the steps. */
const HANG_PERCENT = 10
const OUTAGE_PERCENT = 15
const LEAVE_PERCENT = 15

/**
 * A service whose endpoints are all proxies with faults, a subscriber that stays and one that disconnects and
 * reconnects. Both subscribe before the service has read anything of the chain.
 * @param random draws everything except the faults of the proxies
 */
export async function startFaultyService(
  chain: TestChain,
  random: Random,
  endpoints: readonly FaultyEndpoint[],
  environment: Record<string, string> = {},
) {
  const proxies = await Promise.all(
    endpoints.map(() =>
      startChaosProxy(chain.devnet.rpcUrl, { seed: random.integer(0, 2 ** 31), faults: { unavailable: 1 } }),
    ),
  )
  const urls = proxies.map(({ url, wsUrl }, index) => (endpoints[index]?.protocol === 'ws' ? wsUrl : url))
  const service = await startService(chain, {
    [`RPC_URL_${chain.chainId}`]: urls.join(),
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    ...environment,
  })
  const [staying, leaving] = [createSubscriber(), createSubscriber()]
  await Promise.all([staying, leaving].map((subscriber) => subscriber.connect(service.url)))

  const happens = (percent: number) => random.integer(1, 100) <= percent
  const count = (kind: keyof FaultCounts) => proxies.reduce((sum, { counts }) => sum + counts[kind], 0)
  const kinds = [...new Set(endpoints.flatMap(({ faults }) => kindsOf(faults)))]

  /** Leaves all requests unanswered until one hangs, which delays its caller for seconds. */
  function hangOnce(): void {
    const isOver = count('hung') > 0
    if (!isOver && !happens(HANG_PERCENT)) return
    for (const proxy of proxies) proxy.set({ hang: isOver ? 0 : 1 })
  }

  function goDownOrComeUp(): void {
    for (const [index, { faults, isDownAtTimes }] of endpoints.entries()) {
      if (!isDownAtTimes || !happens(OUTAGE_PERCENT)) continue
      proxies[index]?.set(happens(50) ? { unavailable: 1 } : { unavailable: faults.unavailable ?? 0 })
    }
  }

  return {
    service,
    staying,
    leaving,
    /** The kinds of faults that have not occurred yet. */
    missing: () => kinds.filter((kind) => count(kind) === 0),
    /** Starts the faults, and what was down. */
    begin() {
      for (const [index, { faults }] of endpoints.entries())
        proxies[index]?.set({ unavailable: 0, ...faults })
    },
    /** Draws again. Called while the chain goes on. */
    async step(): Promise<void> {
      hangOnce()
      goDownOrComeUp()
      if (!happens(LEAVE_PERCENT)) return
      if (leaving.isConnected()) await leaving.disconnect()
      else await leaving.connect(service.url)
    },
    /** Ends all faults. */
    async calm(): Promise<void> {
      for (const proxy of proxies) proxy.calm()
      if (!leaving.isConnected()) await leaving.connect(service.url)
    },
    async close(): Promise<void> {
      await Promise.all([staying, leaving].map((subscriber) => subscriber.disconnect()))
      await service.close()
      await Promise.all(proxies.map((proxy) => proxy.close()))
    },
  }
}

const COUNTS: Record<Exclude<keyof Faults, 'lag'>, keyof FaultCounts> = {
  unavailable: 'unavailable',
  disconnect: 'disconnected',
  hang: 'hung',
  error: 'errors',
  stale: 'stale',
  maxRange: 'rangesRefused',
  swallowHead: 'headsSwallowed',
  dropWebSockets: 'webSocketsDropped',
}

/** What is counted when faults of a kind occur. A request that hangs is a fault of each kind. */
function kindsOf(faults: Faults): (keyof FaultCounts)[] {
  const names = Object.keys(faults).filter((name) => name !== 'lag') as (keyof typeof COUNTS)[]
  return ['hung', ...names.map((name) => COUNTS[name])]
}
