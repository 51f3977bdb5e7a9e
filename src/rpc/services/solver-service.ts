import type { MessageInitShape } from '@bufbuild/protobuf'
import { CheckOutcome, type SolverSchema, SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import { type Reason, toServiceError } from '../../../packages/protocol/src/errors.js'
import { toCachedChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import { DISPLAY_NAME } from '../../../packages/protocol/src/values/display-name.js'
import { toUpperCase } from '../convert/enum-words.js'
import { type Method, unaryMethod } from '../method.js'
import type { ServiceContext } from './context.js'

/** The methods of SolverService. */
export function createSolverService(context: ServiceContext): Method[] {
  const { register, unregister, directory, metrics } = context

  async function counted<T>(action: 'register' | 'unregister', chainId: number, work: () => Promise<T>) {
    const count = (result: Reason | 'OK') => metrics.registrations.inc({ chain_id: chainId, action, result })
    try {
      const result = await work()
      count('OK')
      return result
    } catch (thrown) {
      count(toServiceError(thrown).reason)
      throw thrown
    }
  }

  const registerSolver = unaryMethod(SolverService.method.registerSolver, {
    limit: 'register',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      address: fields.address('address', message.address),
      endpointUrl: fields.endpointUrl('endpointUrl', message.endpointUrl),
      name: fields.text('name', message.name, DISPLAY_NAME),
      signature: fields.signature('signature', message.signature),
      timestamp: fields.timestampMs('timestamp', message.timestamp),
    }),
    async handle(registration) {
      const { outcome, explanation } = await counted('register', registration.chainId, () =>
        register(registration),
      )
      return {
        status: 'registered',
        address: toCachedChecksumAddress(registration.address),
        check: { outcome: CheckOutcome[toUpperCase(outcome)], explanation },
      }
    },
  })

  const unregisterSolver = unaryMethod(SolverService.method.unregisterSolver, {
    limit: 'unregister',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      address: fields.address('address', message.address),
      signature: fields.signature('signature', message.signature),
      timestamp: fields.timestampMs('timestamp', message.timestamp),
    }),
    async handle(request) {
      await counted('unregister', request.chainId, () => unregister(request))
      return { status: 'removed', address: toCachedChecksumAddress(request.address) }
    },
  })

  const listSolvers = unaryMethod(SolverService.method.listSolvers, {
    limit: 'solvers',
    read: (message) => Number(message.chainId),
    handle: (chainId) => ({ solvers: directory.active(chainId).map(toSolverMessage) }),
  })

  return [registerSolver, unregisterSolver, listSolvers]
}

/** The message of a solver, with its public fields only. */
function toSolverMessage(solver: Solver): MessageInitShape<typeof SolverSchema> {
  return {
    address: toCachedChecksumAddress(solver.address),
    name: solver.name,
    registeredAt: BigInt(solver.registeredAt),
  }
}
