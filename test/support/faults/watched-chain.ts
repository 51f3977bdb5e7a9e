import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { startChain, type TestChain } from '../chain/chain.js'
import { createTraffic, type Traffic } from '../chain/event-traffic.js'
import { eventually } from '../eventually.js'
import { startService, type TestService } from '../service/service.js'
import { type EventWatch, watchEvents } from '../streams/watch-events.js'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.js'

/** A line of the service's log, of level warn and above. */
interface LogLine {
  readonly level: number
  readonly msg: string
  readonly [field: string]: unknown
}

interface WatchedChain {
  /** One for all tests of the file. */
  chain: TestChain
  traffic: Traffic
  /** The node of the service. New for each test. */
  rpc: RpcProxy
  /** The first block of the test. */
  from: number
  lines: LogLine[]
  /** Undefined until it was started. */
  service: TestService
  /** A subscriber of its own. */
  events: EventWatch
}

interface WatchedChainOptions {
  readonly seed: number
  readonly pollIntervalMs?: number
  /** How far below the head blocks are read again. The service's own default when undefined. */
  readonly recheckBlocks?: number
}

/**
 * Sets up the tests of a file: a chain with traffic, and for each test a node that can give wrong answers.
 */
export function useWatchedChain({ seed, pollIntervalMs = 20, recheckBlocks }: WatchedChainOptions) {
  const on = {} as WatchedChain & { service?: TestService; events?: EventWatch }

  beforeAll(async () => {
    on.chain = await startChain({ bonded: 0 })
    on.traffic = await createTraffic(on.chain, { seed })
  })
  afterAll(() => on.chain?.stop())
  beforeEach(async () => {
    on.rpc = await startRpcProxy(on.chain.devnet.rpcUrl)
    on.from = (await on.traffic.head()).number + 1
    on.lines = []
  })
  afterEach(async () => {
    on.events?.close()
    await on.service?.close()
    on.rpc.close()
  })

  const ofChain = (name: string) => `${name}_${on.chain.chainId}`
  const functions = {
    /** Starts a service and its subscriber. */
    async start(variables: Record<string, string> = {}) {
      const log = pino({ level: 'warn' }, { write: (line: string) => void on.lines.push(JSON.parse(line)) })
      const settings = {
        [ofChain('RPC_URL')]: on.rpc.url,
        [ofChain('POLL_INTERVAL_MS')]: String(pollIntervalMs),
        ...(recheckBlocks === undefined ? {} : { [ofChain('RECHECK_BLOCKS')]: String(recheckBlocks) }),
        ...variables,
      }
      on.service = await startService(on.chain, settings, { log })
      on.events = await watchEvents(on.service)
    },
    chainHealth: async () => (await on.service.get('/health')).body.chains[0],
    /** The last block whose events are published. */
    eventBlock: () => on.service.metric('aggregator_chain_event_block', {}),
    failedLooks: () => on.service.metric('aggregator_rpc_errors_total', {}),
    /** Resolves when the service has read the whole chain. */
    async untilRead() {
      const { number } = await on.traffic.head()
      await eventually(functions.eventBlock, (block) => block === number)
    },
  }
  return Object.assign(on, functions)
}
