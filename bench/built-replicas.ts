import { type BuiltService, startBuiltService } from './built-service.js'

export type BuiltReplicas = Awaited<ReturnType<typeof startBuiltReplicas>>

interface BuiltReplicasOptions {
  readonly chain: Parameters<typeof startBuiltService>[0]
  readonly databaseUrl: string
  readonly size: number
  readonly environment?: Record<string, string>
}

/** Replicas of one instance, each a process of its own. */
export async function startBuiltReplicas({
  chain,
  databaseUrl,
  size,
  environment = {},
}: BuiltReplicasOptions) {
  const replicas: BuiltService[] = []
  const start = async () => {
    const replica = await startBuiltService(chain, { DATABASE_URL: databaseUrl, ...environment })
    replicas.push(replica)
    return replica
  }
  const stop = async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.stop()))
  }
  try {
    while (replicas.length < size) await start()
  } catch (error) {
    await stop()
    throw error
  }

  return {
    /** The running replicas. */
    replicas: (): readonly BuiltService[] => replicas,
    /** The leader of the chain, and the followers. */
    async roles(): Promise<{ leader: BuiltService; others: readonly BuiltService[] }> {
      const isLeader = await Promise.all(replicas.map(({ metric }) => metric('aggregator_chain_leader')))
      const leader = replicas[isLeader.indexOf(1)]
      if (leader === undefined) throw new Error('no replica is the leader of the chain')
      return { leader, others: replicas.filter((replica) => replica !== leader) }
    },
    /** Ends one with SIGKILL. */
    async kill(replica: BuiltService): Promise<void> {
      replicas.splice(replicas.indexOf(replica), 1)
      await replica.kill()
      await replica.stop()
    },
    /** Adds one, and resolves when it is healthy. */
    start,
    stop,
  }
}
