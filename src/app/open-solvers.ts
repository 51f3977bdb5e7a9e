import type { Clock } from '../../packages/protocol/src/clock.js'
import { createContractRules } from '../../packages/protocol/src/signing/offer-validator.js'
import { openAuction } from '../auction/open-auction.js'
import type { EventLog } from '../events/event-log.js'
import { openReplicaRelay } from '../sessions/remote-sessions.js'
import { createSessions } from '../sessions/sessions.js'
import { startBondWatch } from '../solvers/bonds/bond-watch.js'
import { createFreeBonds } from '../solvers/bonds/free-bonds.js'
import type { UsedNonces } from '../solvers/nonces/used-nonces.js'
import type { RegistryContext } from '../solvers/registry/context.js'
import { createRegisterSolver, createUnregisterSolver } from '../solvers/registry/registrations.js'
import { createSessionRegistrations } from '../solvers/registry/session-registrations.js'
import { createSolverPlaces } from '../solvers/registry/solver-places.js'
import { pruneSomeCounts } from '../solvers/statistics/hourly-counts.js'
import { createStatisticsReader } from '../solvers/statistics/statistics-reader.js'
import { createEndpointGuard } from '../solvers/transport/endpoint-guard.js'
import { createSessionTransport } from '../solvers/transport/solver-transports.js'
import { startRetention } from '../store/retention.js'
import type { Logger } from '../telemetry/log.js'

/** Replacements for tests. */
export interface AppOverrides {
  /** The clock of this machine by default. */
  readonly clock?: Clock
  readonly log?: Logger
  /** The name servers as `ip:port`. */
  readonly nameServers?: readonly string[]
  /** Interval of the pings of solver sessions, in milliseconds. */
  readonly sessionHeartbeatMs?: number
  /** Time for which a replica without a sign of life keeps its solver sessions, in milliseconds. */
  readonly replicaLeaseMs?: number
}

/** Parts that have been started, each with a function that ends it. The last one ends first. */
export type Started = (() => Promise<void>)[]

/** What the parts that serve callers and solvers share. */
export interface AppContext extends RegistryContext {
  /** The time from which the deadlines of a chain's quotes are counted (`createDeadlineTime`). */
  readonly deadlineTime: (chainId: number) => number
  readonly eventLog: EventLog
  readonly usedNonces: UsedNonces
}

/** Opens the parts that register solvers, keep their sessions, ask them and validate their replies. */
export async function openSolvers(context: AppContext, overrides: AppOverrides, started: Started) {
  const { config, chains, provenTime, directory, clock, log } = context
  const { stores, replica } = context.instance
  const chainIds = [...chains.keys()]
  const endpointGuard = createEndpointGuard({
    production: config.production,
    allowlist: config.solverEndpointAllowlist,
    nameServers: overrides.nameServers,
  })
  const freeBonds = await createFreeBonds(stores.bonds, chainIds)
  const pruneSome = () => pruneSomeCounts(stores.solverHours, stores.solverOrders, provenTime())
  started.push(startRetention({ pruneSome, what: 'counts of solvers', clock, log }))
  const bondWatch = startBondWatch(context, freeBonds)
  started.push(bondWatch.close)
  const places = createSolverPlaces(context, bondWatch)
  const registrations = createSessionRegistrations(context, places)
  started.push(registrations.close)
  const sessions = createSessions({
    ...context,
    registrations,
    isBlocked: stores.solvers.isBlocked,
    async hasOpenOrders({ chainId, address: solver }) {
      const { orders } = await stores.orders.list(chainId, { solver, state: 'DEPOSITED' }, undefined, 1)
      return orders.length > 0
    },
    heartbeatMs: overrides.sessionHeartbeatMs,
  })
  const relay = replica && openReplicaRelay(context, replica, directory)
  if (relay !== undefined) started.push(relay.close)
  const auction = openAuction({
    ...context,
    rules: createContractRules({ ...context, freeBonds }),
    endpointGuard,
    sessions: createSessionTransport(sessions, relay?.sessions),
    stores,
  })
  started.push(auction.close)
  return {
    freeBonds,
    register: createRegisterSolver(context, places, endpointGuard, auction.checkEndpoint),
    unregister: createUnregisterSolver(context),
    sessions,
    relay,
    statistics: createStatisticsReader(context, directory),
    auction,
  }
}
