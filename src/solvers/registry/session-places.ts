import { createRetry } from '../../concurrency/retry.js'
import { reasonOf } from '../../domain/errors.js'
import { NO_ENDPOINT } from '../../domain/solvers/solver.js'
import type { SolverStore } from '../../store/solvers/solver-store.js'
import type { Logger } from '../../telemetry/log.js'
import type { SolverDirectory } from './solver-directory.js'

interface SessionPlacesOptions {
  readonly store: Pick<SolverStore, 'removeEnded'>
  readonly directory: Pick<SolverDirectory, 'registered' | 'change'>
  readonly chains: ReadonlyMap<number, unknown>
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

/** Time for which a solver without an endpoint keeps its place after its session (docs/decisions.md, D18). */
const PLACE_LIFETIME_MS = 5 * 60_000
const CHECK_INTERVAL_MS = 30_000

/**
 * Starts to remove solvers without an endpoint whose session ended more than five minutes ago.
 * @returns a function that stops it, after a removal under way
 */
export function startSessionPlaces(options: SessionPlacesOptions): () => Promise<void> {
  const { store, directory, chains, now, log } = options

  async function removeEnded(chainId: number): Promise<void> {
    const isWaiting = directory
      .registered(chainId)
      .some(
        ({ endpointUrl, session, remoteSession }) =>
          endpointUrl === NO_ENDPOINT && session === undefined && remoteSession === undefined,
      )
    if (!isWaiting) return
    const remove = () => store.removeEnded(chainId, now() - PLACE_LIFETIME_MS)
    for (const solver of await directory.change(chainId, remove))
      log.info({ chainId, solver }, 'a solver was removed: no session for five minutes')
  }

  const check = createRetry({
    async work() {
      for (const chainId of chains.keys()) await removeEnded(chainId)
    },
    delayMs: CHECK_INTERVAL_MS,
    onFailure: (error) =>
      log.warn({ reason: reasonOf(error) }, 'solvers whose session has ended could not be removed'),
    onRecovery: () => log.info('solvers whose session has ended are removed again'),
  })
  const timer = setInterval(check.run, CHECK_INTERVAL_MS)
  return async () => {
    clearInterval(timer)
    await check.close()
  }
}
