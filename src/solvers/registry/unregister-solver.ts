import { unregistrationMessage } from '../../domain/solvers/registration-messages.js'
import type { SolverStore } from '../../store/solvers/solver-store.js'
import { assertSigned, type SignedRequest } from './signed-request.js'
import type { SolverDirectory } from './solver-directory.js'

interface UnregisterSolverOptions {
  readonly store: Pick<SolverStore, 'lastTimestamp' | 'remove'>
  readonly directory: Pick<SolverDirectory, 'change'>
  readonly protocolName: string
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
}

/**
 * Removes a solver. It resolves when this replica no longer uses the solver.
 * @throws ServiceError TIMESTAMP_OUT_OF_RANGE, SIGNATURE_INVALID, TIMESTAMP_REUSED or SOLVER_NOT_FOUND
 */
export type UnregisterSolver = (request: SignedRequest) => Promise<void>

/** Builds the use case. */
export function createUnregisterSolver(options: UnregisterSolverOptions): UnregisterSolver {
  const { store, directory, protocolName } = options
  return async (request) => {
    await assertSigned(request, unregistrationMessage(protocolName, request), options)
    await directory.change(request.chainId, () => store.remove(request, request.timestamp))
  }
}
