import { createRetry } from '../../concurrency/retry.js'
import { reasonOf } from '../../domain/errors.js'
import type { SolverKey } from '../../domain/solvers/solver.js'
import type { SolverStore } from '../../store/solvers/solver-store.js'
import type { Logger } from '../../telemetry/log.js'
import type { SolverDirectory } from './solver-directory.js'

/** Stores the ends of sessions, also when the database is unavailable for a time. */
export interface SessionEnds {
  /**
   * Lists the solver without the session from the call on.
   * @returns a function that stores the end. Its promise resolves after the first attempt and never rejects. The write is
   *   repeated in the background until it succeeds
   */
  begin(end: SessionEnd): () => Promise<void>
  close(): Promise<void>
}

/** The end of a session on one chain. */
export interface SessionEnd extends SolverKey {
  readonly sessionId: string
  /** Unix time in milliseconds. */
  readonly endedAt: number
}

interface SessionEndsOptions {
  readonly store: Pick<SolverStore, 'endSession'>
  readonly directory: Pick<SolverDirectory, 'change' | 'hideSession'>
  readonly log: Logger
}

const RETRY_MS = 1000

/** Builds the ends. None is under way. */
export function createSessionEnds({ store, directory, log }: SessionEndsOptions): SessionEnds {
  /** The writes that have failed. */
  const unstored = new Set<() => Promise<void>>()
  const retry = createRetry({
    async work() {
      for (const write of unstored) {
        await write()
        unstored.delete(write)
      }
    },
    delayMs: RETRY_MS,
    onFailure: (error) => log.warn({ reason: reasonOf(error) }, 'the ends of sessions could not be stored'),
    onRecovery: () => log.info('the ends of sessions are stored again'),
  })

  return {
    begin(end) {
      const stopHiding = directory.hideSession(end.chainId, end.sessionId)
      async function write(): Promise<void> {
        await directory.change(end.chainId, () => store.endSession(end, end.sessionId, end.endedAt))
        stopHiding()
      }
      return () =>
        write().catch(() => {
          unstored.add(write)
          retry.run()
        })
    },
    close: retry.close,
  }
}
