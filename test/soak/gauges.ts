import type { ReplicaProcesses } from '../support/replicas/replica-processes.js'
import type { FleetSubscriber } from '../support/replicas/subscribers.js'

const LOOK_MS = 100
const MEMORY = 'process_resident_memory_bytes'
const FILES = 'process_open_fds'

/** A figure of the replica with the highest value: the first, the highest and the last one. */
interface Range {
  first: number
  highest: number
  last: number
}

export type Gauges = ReturnType<typeof startGauges>

/** Measures how long each subscriber waits for a message, and what resources the replicas use. */
export function startGauges(fleet: ReplicaProcesses, subscribers: readonly FleetSubscriber[]) {
  const seen = subscribers.map(() => ({ count: 0, at: performance.now() }))
  const ranges = new Map<string, Range>()
  let longestGapMs = 0

  const timer = setInterval(() => {
    const now = performance.now()
    for (const [index, subscriber] of subscribers.entries()) {
      const last = seen[index]
      const { length } = subscriber.received()
      if (last === undefined) continue
      longestGapMs = Math.max(longestGapMs, now - last.at)
      if (length !== last.count) seen[index] = { count: length, at: now }
    }
  }, LOOK_MS)

  async function note(name: string): Promise<void> {
    const running = fleet.replicas.filter(({ state }) => state() === 'running')
    const values = await Promise.all(running.map((replica) => replica.metric(name)))
    const known = values.filter((value) => value !== undefined)
    if (known.length === 0) return
    const highest = Math.max(...known)
    const range = ranges.get(name) ?? { first: highest, highest, last: highest }
    ranges.set(name, { ...range, highest: Math.max(range.highest, highest), last: highest })
  }

  return {
    /** Reads the current resources of the replicas and takes the highest of each. */
    async look(): Promise<void> {
      await note(MEMORY)
      await note(FILES)
    },
    /** In milliseconds. */
    longestGapMs: () => longestGapMs,
    /** Bytes of the replica that uses most. */
    memory: () => ranges.get(MEMORY),
    /** Open files of the replica that has most. */
    files: () => ranges.get(FILES),
    stop: () => clearInterval(timer),
  }
}
