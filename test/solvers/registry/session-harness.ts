import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { Chain } from '../../../src/chain/chain.js'
import { createProvenTime } from '../../../src/chain/chains.js'
import type { InstanceContext } from '../../../src/cluster/instance.js'
import { startBondWatch } from '../../../src/solvers/bonds/bond-watch.js'
import { createFreeBonds } from '../../../src/solvers/bonds/free-bonds.js'
import { createSessionRegistrations } from '../../../src/solvers/registry/session-registrations.js'
import { createSolverDirectory } from '../../../src/solvers/registry/solver-directory.js'
import { createSolverPlaces } from '../../../src/solvers/registry/solver-places.js'
import type { Schema } from '../../../src/store/schema.js'
import { createBondStore } from '../../../src/store/solvers/bond-store.js'
import { createSolverStore, type SolverStore } from '../../../src/store/solvers/solver-store.js'
import type { OpenDatabase } from '../../store/databases.js'
import { createManualClock, type ManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

export const CHAIN_IDS = [1, 2]
export const MIN_BOND = 10n
const START_MS = 1_800_000_000_000
/** Time between two looks for places that are free again. */
export const CHECK_MS = 30_000
/** Time for which a solver keeps its place after its session. */
export const PLACE_MS = 5 * 60_000
export const GRACE_MS = 24 * 3_600_000

/** What the test changes while the replica runs. */
export interface World {
  /** The chains make a block at each moment that passes, whatever the time of day is set to. */
  readonly clock: ManualClock
  /** Solvers without a sufficient bond, by chain and address. */
  readonly unbonded: Set<string>
  /** Chains whose nodes do not answer. */
  readonly unreachable: Set<number>
  /** Called before each write of the store; what it throws is the result of the write. */
  beforeWrite: (method: keyof SolverStore) => void
  /** Called after each write of the store; what it throws is the result, although the write is stored. */
  afterWrite: (method: keyof SolverStore) => void
}

export const newWorld = (): World => ({
  clock: createManualClock(START_MS),
  unbonded: new Set(),
  unreachable: new Set(),
  beforeWrite() {},
  afterWrite() {},
})

export const unavailable = () => new ServiceError('DATABASE_UNAVAILABLE', 'The database does not answer.')
export const bondKey = (chainId: number, address: Address) => `${chainId} ${address}`

/** Directory, bond watch and registrations by session of one replica over a database. */
export async function openReplica(
  { database, coordination }: Pick<OpenDatabase<Schema>, 'database' | 'coordination'>,
  world: World,
  maxSolversPerChain = 50,
) {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  const stored = createSolverStore(database, coordination)
  const store = withFaults(stored, world)
  const cluster = { listen() {}, publish() {} }
  const config = {
    chains: CHAIN_IDS.map((chainId) => ({ chainId })),
    protocolName: 'Service',
    minSolverBond: MIN_BOND,
    maxSolversPerChain,
    unbondedGraceMs: GRACE_MS,
    bondCheckIntervalMs: 3_600_000,
  }
  const shared = only<InstanceContext>({
    config,
    instance: { stores: { solvers: store }, cluster },
    clock: world.clock,
    log,
  })
  const directory = await createSolverDirectory(shared)
  const bonds = createBondStore(database, coordination)
  const freeBonds = await createFreeBonds(bonds, CHAIN_IDS)
  const chains = new Map(CHAIN_IDS.map((chainId) => [chainId, only<Chain>(chainOf(chainId, world))]))
  const context = { ...shared, directory, chains, provenTime: createProvenTime(chains, world.clock.now) }
  const bondWatch = startBondWatch(context, freeBonds)
  const sessions = createSessionRegistrations(context, createSolverPlaces(context, bondWatch))
  const close = async () => {
    await sessions.close()
    await bondWatch.close()
    await directory.close()
  }
  onTestFinished(close)
  return { sessions, directory, freeBonds, stored, lines, close }
}

/** The chain's bonds as `world` has them. The replica is not its leader, so that bonds change only as the test wants. */
function chainOf(chainId: number, { clock, unbonded, unreachable }: World) {
  return {
    chainId,
    headTimeMs: () => START_MS + clock.monotonic(),
    isLeader: () => false,
    async readBond(address: Address) {
      if (unreachable.has(chainId)) throw new ServiceError('CHAIN_UNAVAILABLE', 'The node does not answer.')
      const total = unbonded.has(bondKey(chainId, address)) ? MIN_BOND - 1n : MIN_BOND
      return { registered: true, total, reserved: 0n, unstaking: 0n }
    },
    addListener() {},
  }
}

const READS = ['readAll', 'lastTimestamp', 'isBlocked']

function withFaults(store: SolverStore, world: World): SolverStore {
  const methods = Object.entries(store).map(([name, method]) => [
    name,
    READS.includes(name)
      ? method
      : async (...args: unknown[]) => {
          world.beforeWrite(name as keyof SolverStore)
          const result = await (method as (...args: unknown[]) => Promise<unknown>)(...args)
          world.afterWrite(name as keyof SolverStore)
          return result
        },
  ])
  return Object.fromEntries(methods)
}
