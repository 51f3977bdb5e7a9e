import type { TestChain } from '../chain/chain.js'
import { eventually } from '../eventually.js'
import { startServiceProcess } from '../process/process.js'
import { type Labels, readMetrics } from '../service/metrics.js'
import { environmentFor } from '../service/service.js'

type Chain = Pick<TestChain, 'chainId' | 'devnet' | 'contracts'>

export type ReplicaProcesses = Awaited<ReturnType<typeof startReplicaProcesses>>

/** One process of a fleet, at the same port after each restart. */
export type Replica = ReturnType<typeof createReplica>

/** The state of a replica: `killed` and `stopping` until it is started again. */
export type ReplicaState = 'running' | 'stopping' | 'killed'

/** Ports that no connection takes for itself while a replica is down. */
const LOWEST_PORT = 20_000
const HIGHEST_PORT = 32_000
const JSON_BODY = { 'content-type': 'application/json' }

/**
 * Replicas of the built service, each a process of its own, on one PostgreSQL and one chain. They start at
 * the same time.
 * @param environment further variables of each of them
 */
export async function startReplicaProcesses(
  chain: Chain,
  databaseUrl: string,
  { size = 3, environment = {} as Record<string, string> } = {},
) {
  const variables = { ...environmentFor(chain), DATABASE_URL: databaseUrl, ...environment }
  const replicas = await Promise.all(
    Array.from({ length: size }, (_, index) => startReplica(index, variables)),
  )

  const leaders = async () => {
    const running = replicas.filter(({ state }) => state() === 'running')
    const areLeaders = await Promise.all(running.map((replica) => replica.isLeader(chain.chainId)))
    return running.filter((_, index) => areLeaders[index])
  }

  return {
    replicas: replicas as readonly Replica[],
    /** The replica after another one, in a circle. */
    after: ({ index }: Replica): Replica => replicas[(index + 1) % size] as Replica,
    /** The leader of the chain, once there is one. */
    async leader(): Promise<Replica> {
      const [leader] = await eventually(leaders, ({ length }) => length === 1)
      return leader as Replica
    },
    /** Ends all running replicas, as SIGKILL does. */
    async stop(): Promise<void> {
      await Promise.all(replicas.map((replica) => replica.kill()))
    },
  }
}

function createReplica(index: number, environment: Record<string, string>) {
  const url = `http://127.0.0.1:${environment.PORT}`
  let state: ReplicaState = 'killed'
  let running: ReturnType<typeof startServiceProcess> | undefined

  async function send(verb: string, path: string, body?: unknown) {
    const init = body === undefined ? {} : { body: JSON.stringify(body), headers: JSON_BODY }
    const response = await fetch(`${url}${path}`, { method: verb, ...init })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
    const answer: any = await response.json()
    return { status: response.status, headers: response.headers, body: answer }
  }

  const metric = async (name: string, labels?: Labels): Promise<number | undefined> =>
    (await readMetrics(url)).value(name, labels)

  return {
    index,
    url,
    state: () => state,
    /** Resolves when it listens. @throws Error with its output when it ends before */
    async start(): Promise<void> {
      running = startServiceProcess(environment)
      await running.waitFor(/"url":"[^"]+"/)
      state = 'running'
    },
    /** Ends it by SIGKILL. */
    async kill(): Promise<void> {
      state = 'killed'
      running?.signal('SIGKILL')
      await running?.exited
    },
    /** Ends it by SIGTERM. @returns its exit code */
    async stop(): Promise<number | null | undefined> {
      state = 'stopping'
      running?.signal('SIGTERM')
      return running?.exited
    },
    /** Stops all its work, while its connections stay open, until `thaw`. */
    freeze: () => running?.signal('SIGSTOP'),
    thaw: () => running?.signal('SIGCONT'),
    /** Its log since its last start. */
    output: () => running?.output() ?? '',
    /** The value of the only series of a metric with these labels. */
    metric,
    /** Whether it leads a chain, by its own metrics. */
    isLeader: async (chainId: number): Promise<boolean> =>
      (await metric('aggregator_chain_leader', { chain_id: String(chainId) })) === 1,
    get: (path: string) => send('GET', path),
    post: (path: string, body: unknown) => send('POST', path, body),
    delete: (path: string, body: unknown) => send('DELETE', path, body),
  }
}

/** Starts a replica at any free port. */
async function startReplica(index: number, variables: Record<string, string>): Promise<Replica> {
  const port = LOWEST_PORT + Math.floor(Math.random() * (HIGHEST_PORT - LOWEST_PORT))
  const replica = createReplica(index, { ...variables, PORT: String(port) })
  try {
    await replica.start()
    return replica
  } catch (error) {
    if (!String(error).includes('which is in use')) throw error
    return startReplica(index, variables)
  }
}
