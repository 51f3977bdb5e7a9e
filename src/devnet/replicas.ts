import { setTimeout as delay } from 'node:timers/promises'
import type { Environment } from '../environment.js'
import { type Network, type NetworkOptions, type Service, startNetworkWith } from './network.js'
import { startPostgres } from './postgres.js'
import { type Replica, startReplica } from './replica.js'

/** Several replicas of the service, on one PostgreSQL. */
export interface ReplicaSet extends Service {
  readonly all: readonly [Replica, ...Replica[]]
}

export interface ReplicasOptions {
  /** At least 2. */
  readonly count: number
  /** Called with the log lines of a replica at LOG_LEVEL or above, and when one has ended by itself. */
  readonly onLine: (line: string) => void
}

const ELECTION_TIMEOUT_MS = 10_000
const LOOK_AGAIN_MS = 50

/**
 * Starts a local network with several replicas of the service, which share a PostgreSQL of their own. When
 * one of them does not start, those that have end with this process.
 * @throws PostgresMissingError when no PostgreSQL can be started
 */
export async function startReplicaNetwork(
  options: NetworkOptions & ReplicasOptions,
): Promise<Network<ReplicaSet>> {
  const postgres = await startPostgres()
  try {
    const network = await startNetworkWith(options, (environment, usualPort) =>
      startReplicas({ ...options, environment: { ...environment, DATABASE_URL: postgres.url }, usualPort }),
    )
    const close = async () => {
      await network.close()
      await postgres.stop()
    }
    return { ...network, close }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}

/** Starts the first replica, which becomes the leader of the chain, then all others at once. */
async function startReplicas(
  options: ReplicasOptions & { readonly environment: Environment; readonly usualPort: number },
): Promise<ReplicaSet> {
  const { count, usualPort, onLine } = options
  // Its metrics need no password here, and it asks the sessions of the others.
  const own = { METRICS_AUTH: '', REPLICA_URL: 'http://127.0.0.1', REPLICA_PORT: '0' }
  const environment = { ...options.environment, ...own }
  const start = (index: number) => {
    const name = `replica ${index + 1}`
    const printLine = (line: string) => onLine(`${name}: ${line}`)
    return startReplica({ name, environment, usualPort: usualPort + index, onLine: printLine })
  }

  const first = await start(0)
  const others = await Promise.all(Array.from({ length: count - 1 }, (_, index) => start(index + 1)))
  const all = [first, ...others] as const
  return {
    all,
    urls: [first.url, ...others.map(({ url }) => url)],
    async close() {
      await Promise.all(all.map((replica) => replica.stop()))
    },
  }
}

/**
 * Waits until one of the running replicas is the leader of the chain.
 * @throws Error when none is after 10 s
 */
export async function waitForLeader({ all }: ReplicaSet, chainId: number): Promise<Replica> {
  const end = performance.now() + ELECTION_TIMEOUT_MS
  while (performance.now() < end) {
    for (const replica of all) if (replica.isRunning() && (await readsChain(replica, chainId))) return replica
    await delay(LOOK_AGAIN_MS)
  }
  throw new Error(`no replica is the leader of chain ${chainId}`)
}

async function readsChain({ url }: Replica, chainId: number): Promise<boolean> {
  const figures = await (await fetch(`${url}/metrics`)).text()
  return figures.includes(`\naggregator_chain_leader{chain_id="${chainId}"} 1\n`)
}
