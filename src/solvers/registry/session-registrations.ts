import { assertSupported, reasonOf, ServiceError } from '../../../packages/protocol/src/errors.js'
import { type Bond, NO_ENDPOINT, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createSerialQueue } from '../../concurrency/one-at-a-time.js'
import { createRetry } from '../../concurrency/retry.js'
import type { RegistryContext } from './context.js'
import type { FreePlace, SolverPlaces } from './solver-places.js'

/** A session that a solver opens: its chains count as registrations while it lasts. */
export interface SessionRegistration {
  /** A UUID. */
  readonly sessionId: string
  readonly address: Address
  readonly name: string
  readonly chainIds: readonly number[]
}

/** Registers solvers by their sessions, while these last (docs/decisions.md, D18). */
export type SessionRegistrations = ReturnType<typeof createSessionRegistrations>

/** A solver that has passed all checks of one chain. */
interface CheckedSolver extends SolverKey {
  readonly place: FreePlace
  readonly bond: Bond
}

/** The end of a session that leaves its solver no place to keep, Unix time in milliseconds. */
const LONG_AGO = 0

/** Builds the registrations by session, and starts to remove solvers whose session has ended. */
export function createSessionRegistrations(context: RegistryContext, places: SolverPlaces) {
  const { config, instance, directory, chains, clock } = context
  const ends = createSessionEnds(context)
  const stopPlaces = startSessionPlaces(context)
  /** So that an address has the same session on all chains, and no end is stored before its session. */
  const queue = createSerialQueue()

  async function check(keys: readonly SolverKey[]): Promise<readonly CheckedSolver[]> {
    const onAll = <T>(step: (key: SolverKey) => Promise<T> | T) =>
      Promise.all(keys.map((key) => nameChain(key, keys.length, async () => step(key))))
    for (const { chainId } of keys) assertSupported(chainId, [...chains.keys()])
    await onAll(places.assertNotBlocked)
    const freePlaces = await onAll(places.findPlace)
    const bonds = await onAll(places.readSufficientBond)
    return keys.map((key, index) => ({
      ...key,
      place: freePlaces[index] as FreePlace,
      bond: bonds[index] as Bond,
    }))
  }

  async function take({ sessionId, name }: SessionRegistration, checked: CheckedSolver): Promise<void> {
    const { chainId, address, place, bond } = checked
    const solver = {
      chainId,
      address,
      name,
      registeredAt: clock.now(),
      isBonded: true,
      session: { id: sessionId },
    }
    await places.take(checked, place, bond, (replaceable) =>
      instance.stores.solvers.saveSession(solver, config.maxSolversPerChain, replaceable),
    )
  }

  /** A chain whose write has failed is undone as well: only the answer of the database may be lost. */
  async function connect(registration: SessionRegistration): Promise<void> {
    const { sessionId, address, chainIds } = registration
    const keys = [...new Set(chainIds)]
      .sort((one, other) => one - other)
      .map((chainId) => ({ chainId, address }))
    const checkedSolvers = await check(keys)
    const undo: SessionEnd[] = []
    try {
      for (const checked of checkedSolvers) {
        const endedAt = directory.find(checked) === undefined ? LONG_AGO : clock.now()
        undo.push({ chainId: checked.chainId, address, sessionId, endedAt })
        await nameChain(checked, keys.length, () => take(registration, checked))
      }
    } catch (error) {
      await endAll(undo)
      throw error
    }
  }

  /** Hides all sessions at once, before the first write. */
  async function endAll(sessionEnds: readonly SessionEnd[]): Promise<void> {
    await Promise.all(sessionEnds.map(ends.begin).map((write) => write()))
  }

  return {
    /**
     * Makes a solver active on all chains of its session. For all chains it checks the block list, then the place, then the
     * bond. Then it writes each chain. A registered solver keeps its place, its endpoint and its `registeredAt`, and an
     * earlier session is replaced. Calls for one address run one after the other. Each has a new session id. It resolves when this replica's directory
     * has the session.
     * @throws ServiceError CHAIN_NOT_SUPPORTED, SOLVER_BLOCKED, SOLVER_LIMIT_REACHED, BOND_INSUFFICIENT, CHAIN_UNAVAILABLE or
     *   DATABASE_UNAVAILABLE. Then no chain keeps the session. The message names the chain when there are several.
     */
    connect: (registration: SessionRegistration): Promise<void> =>
      queue.run(() => connect(registration), registration.address),
    /**
     * Ends a session on some of its chains. From the call on, this replica lists the solver without the session. It does
     * nothing where another session has replaced this one.
     * @returns after the first attempt to store the end. It never rejects: the write is repeated until it succeeds
     */
    disconnect(sessionId: string, address: Address, chainIds: readonly number[]): Promise<void> {
      const endedAt = clock.now()
      const writes = chainIds.map((chainId) => ends.begin({ chainId, address, sessionId, endedAt }))
      return queue.run(async () => {
        await Promise.all(writes.map((write) => write()))
      }, address)
    },
    async close(): Promise<void> {
      await Promise.all([queue.idle(), stopPlaces()])
      await ends.close()
    },
  }
}

/** Adds the chain to the message of an error, when there are several chains. */
async function nameChain<T>({ chainId }: SolverKey, chainCount: number, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (chainCount === 1 || !(error instanceof ServiceError)) throw error
    throw new ServiceError(error.reason, `Chain ${chainId}: ${error.message}`, error)
  }
}

/** The end of a session on one chain. */
interface SessionEnd extends SolverKey {
  readonly sessionId: string
  /** Unix time in milliseconds. */
  readonly endedAt: number
}

/** Builds the ends of sessions, none under way. They are stored also when the database is unavailable for a time. */
function createSessionEnds({ instance, directory, clock, log }: RegistryContext) {
  const store = instance.stores.solvers
  /** The writes that have failed. */
  const unstored = new Set<() => Promise<void>>()
  const retry = createRetry({
    async work() {
      for (const write of unstored) {
        await write()
        unstored.delete(write)
      }
    },
    onFailure: (error) => log.warn({ reason: reasonOf(error) }, 'the ends of sessions could not be stored'),
    onRecovery: () => log.info('the ends of sessions are stored again'),
    clock,
  })

  return {
    /**
     * Lists the solver without the session from the call on.
     * @returns a function that stores the end. Its promise resolves after the first attempt and never rejects. The write is
     *   repeated in the background until it succeeds
     */
    begin(end: SessionEnd): () => Promise<void> {
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

/** Time for which a solver without an endpoint keeps its place after its session (docs/decisions.md, D18). */
const PLACE_LIFETIME_MS = 5 * 60_000
const CHECK_INTERVAL_MS = 30_000

/**
 * Starts to remove solvers without an endpoint whose session ended more than five minutes ago.
 * @returns a function that stops it, after a removal under way
 */
function startSessionPlaces(context: RegistryContext): () => Promise<void> {
  const { instance, directory, chains, provenTime, clock, log } = context

  async function removeEnded(chainId: number): Promise<void> {
    const isWaiting = directory
      .registered(chainId)
      .some(
        ({ endpointUrl, session, remoteSession }) =>
          endpointUrl === NO_ENDPOINT && session === undefined && remoteSession === undefined,
      )
    if (!isWaiting) return
    const remove = () => instance.stores.solvers.removeEnded(chainId, provenTime() - PLACE_LIFETIME_MS)
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
    clock,
  })
  const timer = clock.setInterval(check.run, CHECK_INTERVAL_MS)
  return async () => {
    timer.stop()
    await check.close()
  }
}
