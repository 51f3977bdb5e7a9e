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

/** Keeps every registered solver active or inactive according to its bond. */
export interface BondWatch {
  /** Reads the free bonds of a chain's solvers soon, because one is unknown. */
  wantUnknown(chainId: number): void
  close(): Promise<void>
}

interface BondWatchOptions {
  readonly registry: Pick<Registry, 'registered' | 'refresh' | 'removeUnbonded' | 'setBonded'>
  readonly freeBonds: Pick<FreeBonds, 'of' | 'isStored' | 'update' | 'updateUnstored' | 'onForeignChange'>
  readonly chains: ReadonlyMap<number, WatchedChain>
  readonly minSolverBond: bigint
  readonly bondCheckIntervalMs: number
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

/** A round that failed is repeated after this time, or after the check's interval if that is shorter. */
const RETRY_MS = 1000

/**
 * Starts the bond checks of all chains. The leader of a chain reads the bonds of all registered solvers at the start and
 * at every interval. After each block it reads the bonds that the contract's events name. A chain that does not answer
 * changes no solver's state (docs/decisions.md, D5).
 *
 * A follower replica reads the free bonds that are not stored: the leader may run a version that stores none. At every
 * interval, every replica reads the solvers from the store again (docs/decisions.md, D14).
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

type WatchedChain = Pick<Chain, 'chainId' | 'isLeader' | 'readBond' | 'addListener'>

interface ChainWatch {
  checkAll(): void
  wantUnknown(): void
  close(): Promise<void>
}

function watchChain(chain: WatchedChain, options: BondWatchOptions): ChainWatch {
  const { registry, freeBonds, minSolverBond, bondCheckIntervalMs, now, log } = options
  const { chainId } = chain
  /** The solvers whose bonds the next round reads. */
  let wanted = new Set<Address>()
  let areAllWanted = false
  let retry: NodeJS.Timeout | undefined
  let isClosed = false
  /** Whether the last round failed, as the log says. */
  let isFailing = false
  let round: Promise<void> | undefined

  /** Sends all reads of a round in one batch. If one fails, none counts. */
  async function readBonds(isAll: boolean, touched: ReadonlySet<Address>): Promise<void> {
    const registered = registry.registered(chainId)
    const solvers = isAll ? registered : registered.filter(({ address }) => touched.has(address))
    if (solvers.length === 0) return
    const bonds = await Promise.all(solvers.map(({ address }) => chain.readBond(address)))
    const read = bonds.map((bond, index) => [solvers[index]?.address ?? '0x', bond] as const)
    await freeBonds.update(chainId, new Map(read))
    for (const [index, bond] of bonds.entries()) {
      const solver = solvers[index]
      const isBonded = isBondSufficient(bond, minSolverBond)
      if (solver === undefined || withBond(solver, isBonded, now()) === solver) continue
      await registry.setBonded(solver, isBonded)
      if (solver.isBonded !== isBonded)
        log.info(
          { chainId, solver: solver.address, isBonded },
          'a solver is active or inactive because its bond has changed',
        )
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
            'bonds could not be read or stored: the states of solvers stay the same',
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
  chain.addListener({ onBonds: check, onReset: checkAll })
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
