import { pino } from 'pino'
import { afterEach, beforeEach } from 'vitest'
import type { AppOverrides } from '../../../src/app/app.js'
import { eventually } from '../eventually.js'
import { type EventWatch, watchEvents } from '../streams/watch-events.js'
import { useProxiedChain } from './proxied-chain.js'

/** A line of the service's log, of level warn and above. */
interface LogLine {
  readonly level: number
  readonly msg: string
  readonly [field: string]: unknown
}

interface WatchedChain {
  /** The first block of the test. */
  from: number
  lines: LogLine[]
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
 * Sets up the tests of a file: a chain with traffic, and for each test a node that can give wrong answers, the
 * warnings of the service's log and a subscriber.
 */
export function useWatchedChain({ seed, pollIntervalMs = 20, recheckBlocks }: WatchedChainOptions) {
  const proxied = useProxiedChain({ seed, pollIntervalMs })
  const startService = proxied.start
  const on = proxied as typeof proxied & WatchedChain & { events?: EventWatch }

  beforeEach(async () => {
    on.from = (await on.traffic.head()).number + 1
    on.lines = []
  })
  afterEach(() => on.events?.close())

  const functions = {
    /** Starts a service and its subscriber. */
    async start(variables: Record<string, string> = {}, overrides: AppOverrides = {}) {
      const log = pino({ level: 'warn' }, { write: (line: string) => void on.lines.push(JSON.parse(line)) })
      const recheck = `RECHECK_BLOCKS_${on.chain.chainId}`
      const settings = recheckBlocks === undefined ? {} : { [recheck]: String(recheckBlocks) }
      await startService({ ...settings, ...variables }, { log, ...overrides })
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
