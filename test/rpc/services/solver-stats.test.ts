import { expect, it } from 'vitest'
import { NotAskedReason } from '../../../gen/aggregator/v1/solver_stats_pb.js'
import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import type { ServiceContext } from '../../../src/rpc/services/context.js'
import { toStateFields } from '../../../src/rpc/services/solver-stats.js'
import { only } from '../../support/only.js'

const KEY = { chainId: 1, address: '0x00000000000000000000000000000000000000aa' } as const
const solver = only<Solver>({ ...KEY, isBonded: true })

function notAsked(
  found: Solver | undefined,
  active: readonly Solver[],
  reason?: 'circuit_open' | 'not_answering' | 'bond_unknown',
): NotAskedReason | undefined {
  const directory = { find: () => found, active: () => active }
  const freeBonds = { of: () => undefined, totalOf: () => undefined }
  const notAskedReason = () => reason
  const auction = { notAskedReason, circuitStateOf: () => 'closed' }
  return toStateFields(KEY, only<ServiceContext>({ directory, auction, freeBonds })).notAsked
}

it('a solver is asked although it was read again since the list of active ones', () => {
  expect(notAsked({ ...solver }, [{ ...solver }])).toBeUndefined()
})

it.each([
  [undefined, [], NotAskedReason.NOT_REGISTERED],
  [{ ...solver, isBonded: false }, [], NotAskedReason.BOND_TOO_SMALL],
  [solver, [], NotAskedReason.NOT_CONNECTED],
])('of %o, the reason is %s', (found, active, reason) => {
  expect(notAsked(found, active)).toBe(reason)
})

it.each([
  ['circuit_open', NotAskedReason.CIRCUIT_OPEN],
  ['not_answering', NotAskedReason.NOT_ANSWERING],
  ['bond_unknown', NotAskedReason.BOND_UNKNOWN],
] as const)('of an active solver, the auction has the reason: %s', (reason, number) => {
  expect(notAsked(solver, [solver], reason)).toBe(number)
})
