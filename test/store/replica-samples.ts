import { onTestFinished } from 'vitest'
import { TOPICS, type Topic } from '../../src/domain/cluster.js'
import { connectCluster } from '../../src/store/postgres-cluster.js'
import { createLog } from '../../src/telemetry/log.js'
import { eventually } from '../service/eventually.js'

/** What a replica notes once it has connected again. */
export const MISSED = TOPICS.map((topic) => `missed ${topic}`)

/**
 * A replica that notes what happens to it; it leaves with the test, if not before.
 * @param whenFinished the test's own hook, for one that runs beside others
 */
export async function join(databaseUrl: string, whenFinished = onTestFinished) {
  const notes: string[] = []
  const heard: Record<Topic, string[]> = {
    events: [],
    solvers: [],
    bonds: [],
    nonces: [],
    chains: [],
  }
  const cluster = await connectCluster({
    databaseUrl,
    onLost: () => notes.push('lost'),
    log: createLog('silent'),
  })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= cluster.close()
    return closed
  }
  whenFinished(close)

  for (const topic of TOPICS) {
    const onMissed = () => notes.push(`missed ${topic}`)
    cluster.listen(topic, { onMessage: (text) => heard[topic].push(text), onMissed })
  }
  const elected = new Set<string>()
  return {
    ...cluster,
    close,
    /** What has happened, in order. */
    notes: notes as readonly string[],
    heard: heard as Readonly<Record<Topic, readonly string[]>>,
    /** The offices that it holds as far as it knows. */
    elected: elected as ReadonlySet<string>,
    /** Runs for an office, and notes each change. */
    run: (office: string) =>
      cluster.acquire(office, {
        onAcquired() {
          elected.add(office)
          notes.push(`elected ${office}`)
        },
        onLost() {
          elected.delete(office)
          notes.push(`deposed ${office}`)
        },
      }),
  }
}

export type TestReplica = Awaited<ReturnType<typeof join>>

/** Waits until something is so. @returns how long that took, in milliseconds */
export async function until(isSo: () => boolean): Promise<number> {
  const start = performance.now()
  await eventually(async () => isSo(), Boolean)
  return performance.now() - start
}
