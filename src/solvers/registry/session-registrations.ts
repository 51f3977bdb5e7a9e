import { createSerialQueue } from '../../concurrency/one-at-a-time.js'
import { assertSupported, ServiceError } from '../../domain/errors.js'
import type { Bond, SolverKey } from '../../domain/solvers/solver.js'
import type { Address } from '../../domain/values/hex.js'
import type { SolverStore } from '../../store/solvers/solver-store.js'
import { createSessionEnds, type SessionEnd } from './session-ends.js'
import { startSessionPlaces } from './session-places.js'
import type { SolverDirectory } from './solver-directory.js'
import { createSolverPlaces, type Room, type SolverPlacesOptions } from './solver-places.js'

/** A session that a solver opens: its chains count as registrations while it lasts. */
export interface SessionRegistration {
  /** A UUID. */
  readonly sessionId: string
  readonly address: Address
  readonly name: string
  readonly chainIds: readonly number[]
}

/** Registers solvers by their sessions, while these last (docs/decisions.md, D18). */
export interface SessionRegistrations {
  /**
   * Makes a solver active on all chains of its session. For all chains it checks the block list, then the room, then the
   * bond. Then it writes each chain. A registered solver keeps its place, its endpoint and its `registeredAt`, and an
   * earlier session is replaced. Calls for one address run one after the other. Each has a new session id. It resolves when this replica's directory
   * has the session.
   * @throws ServiceError CHAIN_NOT_SUPPORTED, SOLVER_BLOCKED, SOLVER_LIMIT_REACHED, BOND_INSUFFICIENT, CHAIN_UNAVAILABLE or
   *   DATABASE_UNAVAILABLE. Then no chain keeps the session. The message names the chain when there are several.
   */
  connect(registration: SessionRegistration): Promise<void>
  /**
   * Ends a session on some of its chains. From the call on, this replica lists the solver without the session. It does
   * nothing where another session has replaced this one.
   * @returns after the first attempt to store the end. It never rejects: the write is repeated until it succeeds
   */
  disconnect(sessionId: string, address: Address, chainIds: readonly number[]): Promise<void>
  close(): Promise<void>
}

interface SessionRegistrationsOptions extends SolverPlacesOptions {
  readonly store: SolverPlacesOptions['store'] &
    Pick<SolverStore, 'saveSession' | 'endSession' | 'removeEnded'>
  readonly directory: SolverPlacesOptions['directory'] & Pick<SolverDirectory, 'hideSession'>
}

/** A solver that has passed all checks of one chain. */
interface CheckedSolver extends SolverKey {
  readonly room: Room
  readonly bond: Bond
}

/** The end of a session that leaves its solver no place to keep, Unix time in milliseconds. */
const LONG_AGO = 0

/** Builds the registrations by session, and starts to remove solvers whose session has ended. */
export function createSessionRegistrations(options: SessionRegistrationsOptions): SessionRegistrations {
  const { store, directory, chains, maxSolversPerChain, now } = options
  const places = createSolverPlaces(options)
  const ends = createSessionEnds(options)
  const stopPlaces = startSessionPlaces(options)
  /** So that an address has the same session on all chains, and no end is stored before its session. */
  const queue = createSerialQueue()

  async function check(keys: readonly SolverKey[]): Promise<readonly CheckedSolver[]> {
    const onAll = <T>(step: (key: SolverKey) => Promise<T> | T) =>
      Promise.all(keys.map((key) => nameChain(key, keys.length, async () => step(key))))
    for (const { chainId } of keys) assertSupported(chainId, [...chains.keys()])
    await onAll(places.assertNotBlocked)
    const rooms = await onAll(places.findRoom)
    const bonds = await onAll(places.readSufficientBond)
    return keys.map((key, index) => ({ ...key, room: rooms[index] as Room, bond: bonds[index] as Bond }))
  }

  async function take({ sessionId, name }: SessionRegistration, checked: CheckedSolver): Promise<void> {
    const { chainId, address, room, bond } = checked
    const solver = { chainId, address, name, registeredAt: now(), isBonded: true, session: { id: sessionId } }
    await places.take(checked, room, bond, (replaceable) =>
      store.saveSession(solver, maxSolversPerChain, replaceable),
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
        const endedAt = directory.find(checked) === undefined ? LONG_AGO : now()
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
    connect: (registration) => queue.run(() => connect(registration), registration.address),
    disconnect(sessionId, address, chainIds) {
      const endedAt = now()
      const writes = chainIds.map((chainId) => ends.begin({ chainId, address, sessionId, endedAt }))
      return queue.run(async () => {
        await Promise.all(writes.map((write) => write()))
      }, address)
    },
    async close() {
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
