import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import type { SessionSolver } from '../../../src/store/solvers/solver-session-store.js'
import { createSolverStore, type SolverStore } from '../../../src/store/solvers/solver-store.js'
import { postgresAt, type TestDatabase } from '../databases.js'

/** More solvers than any test has. */
export const NO_LIMIT = 1000
/** When a bond was read, Unix time in milliseconds. */
export const NOTED_AT = 1_700_000_000_000

/** Opens a store of solvers. It closes with the test, if it is still open. */
export async function openStore(on: TestDatabase) {
  const { database, coordination, close } = await on.open()
  return { store: createSolverStore(database, coordination), close }
}

/** The stores of two replicas of PostgreSQL, each with its own connections. */
export async function openReplicas({ url }: { readonly url: string }): Promise<[SolverStore, SolverStore]> {
  const on = postgresAt(url)
  const [first, second] = await Promise.all([openStore(on), openStore(on)])
  return [first.store, second.store]
}

/** A registration that its number distinguishes from others. */
export function solver(number: number, changes: Partial<Solver> = {}): Solver {
  return {
    chainId: 1,
    address: `0x${number.toString(16).padStart(40, '0')}`,
    endpointUrl: `https://solver-${number}.example.org`,
    name: `Solver ${number}`,
    registeredAt: 1_800_000_000_000 + number,
    isBonded: true,
    ...changes,
  }
}

/** The same solver, when it registers by a session instead. */
export function sessionSolver(
  number: number,
  sessionId: string,
  changes: Partial<Solver> = {},
): SessionSolver {
  const { endpointUrl: _, ...rest } = solver(number, changes)
  return { ...rest, session: { id: sessionId } }
}

/** Everything that the store has of these solvers. */
export async function contents(store: SolverStore, ...solvers: Solver[]) {
  return {
    solvers: await store.readAll(),
    timestamps: await Promise.all(solvers.map((each) => store.lastTimestamp(each))),
  }
}
