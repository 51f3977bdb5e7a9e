import type { Chain } from '../chain/chain.js'
import { reasonOf } from '../domain/errors.js'
import type { Address } from '../domain/hex.js'
import {
  type Bond,
  isBondSufficient,
  replaceableSolvers,
  type Solver,
  UNBONDED_LIFETIME_MS,
  withBond,
} from '../domain/solver.js'
import type { Logger } from '../telemetry/log.js'
import type { FreeBonds } from './free-bonds.js'
import type { Registry } from './registry.js'
import { watchUnknownBonds } from './unknown-bonds.js'

/** Keeps the standing of every registered solver as its bond is. */
export interface BondWatch {
  /** Has the free bonds of a chain's solvers read soon, because one is not known. */
  wantUnknown(chainId: number): void
  close(): Promise<void>
}

interface BondWatchOptions {
  readonly registry: Pick<Registry, 'registered' | 'refresh' | 'removeUnbonded' | 'setBonded'>
  readonly freeBonds: Pick<FreeBonds, 'of' | 'isStored' | 'note' | 'noteUnstored' | 'onForeignChange'>
  readonly chains: ReadonlyMap<number, WatchedChain>
  readonly minSolverBond: bigint
  readonly bondCheckIntervalMs: number
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

/** A round that failed is repeated so soon, or after the check's interval where that is shorter. */
const RETRY_MS = 1000

/**
 * Starts reading the bonds of all registered solvers, at once and at every interval, and of those that the contract's
 * events name after each block: on chains that are read here, as one replica does it for all. A chain that does not
 * answer changes nobody's standing (docs/decisions.md, D5). A replica that does not read the chain reads the free bonds that
 * the other one has not stored: that one may be of a version that stores none. At every interval the solvers themselves are read from the store
 * again, whichever replica reads the chain (docs/decisions.md, D14).
 */
export function startBondWatch(options: BondWatchOptions): BondWatch {
  const watches = new Map(
    [...options.chains].map(([chainId, chain]) => [chainId, watchChain(chain, options)] as const),
  )
  options.freeBonds.onForeignChange((chainId) => watches.get(chainId)?.checkAll())
  return {
    wantUnknown: (chainId) => watches.get(chainId)?.wantUnknown(),
    async close() {
      await Promise.all([...watches.values()].map((watch) => watch.close()))
    },
  }
}

type WatchedChain = Pick<Chain, 'chainId' | 'isLeader' | 'readBond' | 'onBondEvents'>

interface ChainWatch {
  checkAll(): void
  wantUnknown(): void
  close(): Promise<void>
}

function watchChain(chain: WatchedChain, options: BondWatchOptions): ChainWatch {
  const { registry, freeBonds, minSolverBond, bondCheckIntervalMs, now, log } = options
  const { chainId } = chain
  /** Whose bonds the next round reads. */
  let wanted = new Set<Address>()
  let areAllWanted = false
  let retry: NodeJS.Timeout | undefined
  let isClosed = false
  /** Whether the last round failed, as the log says. */
  let isFailing = false
  let round: Promise<void> | undefined

  /** All reads of a round leave in one batch, and all count or none. */
  async function readBonds(isAll: boolean, touched: ReadonlySet<Address>): Promise<void> {
    const registered = registry.registered(chainId)
    const solvers = isAll ? registered : registered.filter(({ address }) => touched.has(address))
    if (solvers.length === 0) return
    const bonds = await Promise.all(solvers.map(({ address }) => chain.readBond(address)))
    const read = bonds.map((bond, index) => [solvers[index]?.address ?? '0x', bond] as const)
    await freeBonds.note(chainId, new Map(read))
    for (const [index, bond] of bonds.entries()) {
      const solver = solvers[index]
      const isBonded = isBondSufficient(bond, minSolverBond)
      if (solver === undefined || withBond(solver, isBonded, now()) === solver) continue
      await registry.setBonded(solver, isBonded)
      if (solver.isBonded !== isBonded)
        log.info({ chainId, solver: solver.address, isBonded }, "a solver's bond has changed its standing")
    }
    const isUnbonded = (bond: Bond | undefined) =>
      bond !== undefined && !isBondSufficient(bond, minSolverBond)
    await removeUnbonded(solvers.filter((_, index) => isUnbonded(bonds[index])))
  }

  /** @param solvers those whose bond was just read as insufficient */
  async function removeUnbonded(solvers: readonly Solver[]): Promise<void> {
    const before = now() - UNBONDED_LIFETIME_MS
    for (const solver of replaceableSolvers(solvers, before)) {
      const { address, unbondedSince } = solver
      if (await registry.removeUnbonded(solver, before))
        log.info({ chainId, solver: address, unbondedSince }, 'a solver was removed: no bond for 24 hours')
    }
  }

  function noteSuccess(): void {
    if (isFailing) log.info({ chainId }, 'bonds are read and stored again')
    isFailing = false
  }

  async function readUntilQuiet(): Promise<void> {
    while ((areAllWanted || wanted.size > 0) && !isClosed) {
      const [isAll, touched] = [areAllWanted, wanted]
      areAllWanted = false
      wanted = new Set()
      await readBonds(isAll, touched).then(noteSuccess, (error) => {
        if (!isFailing)
          log.warn(
            { chainId, reason: reasonOf(error) },
            'bonds could not be read or stored: solvers stay as they were',
          )
        isFailing = true
        clearTimeout(retry)
        if (!isClosed) retry = setTimeout(checkAll, Math.min(RETRY_MS, bondCheckIntervalMs))
      })
    }
    round = undefined
  }

  function check(solvers: ReadonlySet<Address> | undefined): void {
    if (isClosed || !chain.isLeader()) return
    if (solvers === undefined) areAllWanted = true
    else for (const solver of solvers) wanted.add(solver)
    round ??= readUntilQuiet()
  }

  function checkAll(): void {
    check(undefined)
  }

  const unknown = watchUnknownBonds(chain, options, checkAll)
  chain.onBondEvents(check)
  const timer = setInterval(() => {
    registry.refresh(chainId)
    checkAll()
    unknown.check()
  }, bondCheckIntervalMs)
  checkAll()
  unknown.check()
  return {
    checkAll,
    wantUnknown: unknown.want,
    async close() {
      isClosed = true
      clearInterval(timer)
      clearTimeout(retry)
      await Promise.all([round, unknown.close()])
    },
  }
}
