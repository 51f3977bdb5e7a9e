import type { Solver } from '../../packages/protocol/src/solvers/solver.js'

/** A registered solver with its number in its address and its name. */
export function solver(number: number, changes: Partial<Solver> = {}): Solver {
  return {
    chainId: 1,
    address: `0x${number.toString(16).padStart(40, '0')}`,
    endpointUrl: `https://solver-${number}.example.org`,
    name: String(number),
    registeredAt: number,
    isBonded: true,
    ...changes,
  }
}
