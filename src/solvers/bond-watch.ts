import type { Chain } from '../chain/chain.js'
import { isBondSufficient } from '../domain/solver.js'
import type { Logger } from '../telemetry/log.js'
import type { Registry } from './registry.js'

/** Keeps the standing of every registered solver as its bond is. */
export interface BondWatch {
  close(): Promise<void>
}

interface BondWatchOptions {
  readonly registry: Pick<Registry, 'registered' | 'setBonded'>
  readonly chains: ReadonlyMap<number, WatchedChain>
  readonly minSolverBond: bigint
  readonly bondCheckIntervalMs: number
  readonly log: Logger
}

/**
 * Starts reading the bonds of all registered solvers, at once, at every interval and whenever the contract tells of
 * a change: those of chains that are read here, as one replica does it for all. A chain that does not answer changes nobody's standing (decisions.md D5).
 */
export function startBondWatch(options: BondWatchOptions): BondWatch {
  const watches = [...options.chains.values()].map((chain) => watchChain(chain, options))
  return {
    async close() {
      await Promise.all(watches.map((watch) => watch.close()))
    },
  }
}

type WatchedChain = Pick<Chain, 'chainId' | 'isReadHere' | 'readBond' | 'onBondEvents'>

function watchChain(chain: WatchedChain, options: BondWatchOptions): BondWatch {
  const { registry, minSolverBond, bondCheckIntervalMs, log } = options
  const { chainId } = chain
  let isAskedAgain = false
  let isClosed = false
  let round: Promise<void> | undefined

  /** All reads of a round leave in one batch, and all count or none. */
  async function readBonds(): Promise<void> {
    const solvers = registry.registered(chainId)
    const bonds = await Promise.all(solvers.map(({ address }) => chain.readBond(address)))
    for (const [index, bond] of bonds.entries()) {
      const solver = solvers[index]
      const isBonded = isBondSufficient(bond, minSolverBond)
      if (solver === undefined || solver.isBonded === isBonded) continue
      await registry.setBonded(solver, isBonded)
      log.info({ chainId, solver: solver.address, isBonded }, "a solver's bond has changed its standing")
    }
  }

  async function readUntilQuiet(): Promise<void> {
    do {
      isAskedAgain = false
      await readBonds().catch((error) => {
        log.warn({ chainId, reason: String(error) }, 'bonds could not be read, standings stay as they are')
      })
    } while (isAskedAgain && !isClosed)
    round = undefined
  }

  function check(): void {
    isAskedAgain = true
    if (!isClosed && chain.isReadHere()) round ??= readUntilQuiet()
  }

  chain.onBondEvents(check)
  const timer = setInterval(check, bondCheckIntervalMs)
  check()
  return {
    async close() {
      isClosed = true
      clearInterval(timer)
      await round
    },
  }
}
