import { SolverService } from '../../gen/aggregator/v1/solver_pb.js'
import type { Solver } from '../domain/solver.js'
import { toKnownChecksumAddress } from '../signing/checksum.js'
import type { Registry } from '../solvers/registry.js'
import { toSolverMessage } from './convert.js'
import { memoize } from './memoize.js'
import { type Method, unaryMethod } from './method.js'

/** The methods of SolverService. */
export function createSolverService(registry: Registry): Method[] {
  const registerSolver = unaryMethod(SolverService.method.registerSolver, {
    limit: 'register',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      address: fields.address('address', message.address),
      endpointUrl: fields.endpointUrl('endpointUrl', message.endpointUrl),
      name: fields.displayName('name', message.name),
      signature: fields.signature('signature', message.signature),
      timestamp: fields.timestampMs('timestamp', message.timestamp),
    }),
    async answer(registration) {
      await registry.register(registration)
      return { status: 'registered', address: toKnownChecksumAddress(registration.address) }
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
    async answer(wish) {
      await registry.unregister(wish)
      return { status: 'removed', address: toKnownChecksumAddress(wish.address) }
    },
  })

  // The registry replaces its lists and never changes one.
  const toAnswer = memoize((solvers: readonly Solver[]) => ({ solvers: solvers.map(toSolverMessage) }))

  const listSolvers = unaryMethod(SolverService.method.listSolvers, {
    limit: 'solvers',
    read: (message) => Number(message.chainId),
    answer: (chainId) => toAnswer(registry.active(chainId)),
  })

  return [registerSolver, unregisterSolver, listSolvers]
}
