import type { Chain } from '../../chain/chain.js'
import type { InstanceContext } from '../../cluster/instance.js'
import type { SolverDirectory } from './solver-directory.js'

/** What registrations and the checks of bonds share. */
export interface RegistryContext extends InstanceContext {
  readonly directory: SolverDirectory
  readonly chains: ReadonlyMap<number, Chain>
  /** The time by which solvers lose their places (`createProvenTime`). */
  readonly provenTime: () => number
}
