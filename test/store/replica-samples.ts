import { onTestFinished } from 'vitest'
import { TOPICS, type Topic } from '../../src/domain/replicas.js'
import { joinReplicas } from '../../src/store/postgres-replicas.js'
import { createLog } from '../../src/telemetry/log.js'

/** A replica that notes what happens to it; it leaves with the test, if not before. */
export async function join(databaseUrl: string) {
  const notes: string[] = []
  const heard: Record<Topic, string[]> = { events: [], solvers: [], chains: [] }
  const replicas = await joinReplicas({
    databaseUrl,
    onLost: () => notes.push('lost'),
    log: createLog('silent'),
  })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= replicas.close()
    return closed
  }
  onTestFinished(close)

  for (const topic of TOPICS) {
    const onMissed = () => notes.push(`missed ${topic}`)
    replicas.listen(topic, { onText: (text) => heard[topic].push(text), onMissed })
  }
  const elected = new Set<string>()
  return {
    ...replicas,
    close,
    /** What has happened, in order. */
    notes: notes as readonly string[],
    heard: heard as Readonly<Record<Topic, readonly string[]>>,
    /** The offices that it holds as far as it knows. */
    elected: elected as ReadonlySet<string>,
    /** Runs for an office, and notes each change. */
    run: (office: string) =>
      replicas.campaign(office, {
        onElected() {
          elected.add(office)
          notes.push(`elected ${office}`)
        },
        onDeposed() {
          elected.delete(office)
          notes.push(`deposed ${office}`)
        },
      }),
  }
}

export type TestReplica = Awaited<ReturnType<typeof join>>
