import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { toChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import { NO_ENDPOINT, type Solver, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { SessionRegistrations } from '../../solvers/registry/session-registrations.js'
import type { SolverDirectory } from '../../solvers/registry/solver-directory.js'

/**
 * The only solver of a run, with its session; in memory.
 * @param expected the address that must connect; undefined for the first that does
 */
export function createTrialDirectory(chainId: number, expected: Address | undefined) {
  const listeners: Parameters<SolverDirectory['addListener']>[0][] = []
  let solver: Solver | undefined

  function publish(next: Solver): void {
    solver = next
    for (const listener of listeners) listener(chainId, [next])
  }

  return {
    /** Accepts every solver, or only the expected one, without a bond. */
    registrations: {
      async connect({ sessionId, address, name }) {
        const wanted = expected ?? solver?.address ?? address
        if (address !== wanted) throw anotherSolver(address, wanted)
        const session = { id: sessionId }
        const registeredAt = Date.now()
        publish({ chainId, address, endpointUrl: NO_ENDPOINT, name, registeredAt, isBonded: true, session })
      },
      async disconnect(sessionId) {
        if (solver?.session?.id === sessionId) publish({ ...solver, session: undefined })
      },
    } satisfies Pick<SessionRegistrations, 'connect' | 'disconnect'>,
    directory: {
      find: (key: SolverKey) => (solver?.address === key.address ? solver : undefined),
      addListener: (listener) => void listeners.push(listener),
    } satisfies Pick<SolverDirectory, 'find' | 'addListener'>,
    /** The solver whose session came last; undefined before the first. */
    solver: () => solver,
  }
}

function anotherSolver(address: Address, wanted: Address): ServiceError {
  const [came, expected] = [address, wanted].map(toChecksumAddress)
  return new ServiceError('SOLVER_BLOCKED', `This run certifies ${expected}, and ${came} has connected.`)
}
