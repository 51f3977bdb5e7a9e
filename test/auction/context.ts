import type { AuctionContext } from '../../src/auction/context.js'
import { type Config, readConfig } from '../../src/config/config.js'
import { createEndpointGuard } from '../../src/solvers/transport/endpoint-guard.js'
import { createLog } from '../../src/telemetry/log.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { createManualClock } from '../support/manual-clock.js'
import { only } from '../support/only.js'
import { OUTPUT_TOKEN } from '../support/solvers/sample-quotes.js'

const CONFIG: Config = readConfig({
  SUPPORTED_CHAINS: '1',
  RPC_URL_1: 'http://127.0.0.1:8545',
  SERVICE_ADDRESS_1: OUTPUT_TOKEN,
})

/** Of an object, the members that a test has; of a map, those of its values. */
type Some<T> = T extends (...args: never) => unknown
  ? T
  : T extends ReadonlyMap<infer K, infer V>
    ? ReadonlyMap<K, Partial<V>>
    : Partial<T>

/** A context with the default configuration, a clock of its own and a silent log, and the other parts that a test has. */
export function contextOf(
  parts: {
    readonly [Part in keyof AuctionContext]?: Some<AuctionContext[Part]>
  },
): AuctionContext {
  const { config, chains = new Map(), directory = {}, usedNonces = {}, sessions = {}, stores = {} } = parts
  const clock = { ...createManualClock(), ...parts.clock }
  return {
    config: { ...CONFIG, ...config },
    chains: new Map([...chains].map(([id, chain]) => [id, only(chain)])),
    directory: only(directory),
    rules: { canCheck: () => true, violationOf: () => undefined, ...parts.rules },
    usedNonces: only(usedNonces),
    endpointGuard: { ...createEndpointGuard({ production: false, allowlist: [] }), ...parts.endpointGuard },
    sessions: only(sessions),
    stores: only(stores),
    provenTime: parts.provenTime ?? clock.now,
    deadlineTime: parts.deadlineTime ?? clock.now,
    clock,
    metrics: { ...createMetrics(), ...parts.metrics },
    log: parts.log === undefined ? createLog('silent') : only(parts.log),
  }
}
