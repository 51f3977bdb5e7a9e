import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../internals/start-thread.js'
import { type RecoverAll, recoverKey, recoveryLibrary } from './recover.js'
import { RecoverySlots, SLOTS } from './recovery-slots.js'
import type { RecoveryThreadData } from './recovery-thread.js'

/** To wake a thread for fewer signatures takes longer than it saves. */
const FEWEST = 4
const MOST_THREADS = 3
/** About twice the time of a recovery. */
const LONGEST_WAIT_MS = 0.1
/** A thread keeps nothing between two recoveries. */
const resourceLimits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 32 }

/** Recovers signers on several cores. */
export interface RecoveryHelpers {
  readonly recoverAll: RecoverAll
  close(): Promise<void>
}

/**
 * Builds the helpers: a thread for each other core, at most three. They start when the first signatures need them. The calling
 * thread shares its work with them: it begins at the last signature, they begin at the first one. So it takes no longer than
 * alone, where no core is free, but for one signature of each helper.
 * @param onFailed called when a helper cannot start, or has failed. The others do its work
 */
export function createRecoveryHelpers(
  onFailed: (error: unknown) => void,
  threads = Math.min(MOST_THREADS, availableParallelism() - 1),
): RecoveryHelpers {
  const slots = new RecoverySlots()
  let workers: Worker[] | undefined

  function startWorkers(): Worker[] {
    const data: RecoveryThreadData = { memory: slots.memory, library: recoveryLibrary }
    const started: Worker[] = []
    try {
      while (started.length < threads) {
        const worker = startThread('recovery-thread', import.meta.url, data, resourceLimits)
        worker.on('error', onFailed)
        worker.unref()
        started.push(worker)
      }
    } catch (error) {
      // The system may allow no more threads.
      onFailed(error)
    }
    return started
  }

  const share: RecoverAll = (signatures) => {
    const tasks = signatures.map((signature, slot) => ({
      signature,
      slot,
      isPosted: slots.post(slot, signature),
    }))
    slots.wake(threads)
    const own = new Map<number, Uint8Array | undefined>()
    for (const { signature, slot, isPosted } of tasks.toReversed())
      if (!isPosted || slots.takeBack(slot)) own.set(slot, recoverKey(signature))
    return tasks.map(({ signature, slot }) => {
      if (own.has(slot)) return own.get(slot)
      const found = slots.collect(slot, LONGEST_WAIT_MS)
      return found === undefined ? recoverKey(signature) : found.key
    })
  }

  return {
    recoverAll(signatures) {
      if (signatures.length < FEWEST || threads === 0) return signatures.map(recoverKey)
      workers ??= startWorkers()
      const parts = Math.ceil(signatures.length / SLOTS)
      return Array.from({ length: parts }, (_, part) =>
        share(signatures.slice(part * SLOTS, (part + 1) * SLOTS)),
      ).flat()
    },
    async close() {
      await Promise.all((workers ?? []).map((worker) => worker.terminate()))
    },
  }
}
