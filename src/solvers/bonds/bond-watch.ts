import { reasonOf } from '../../../packages/protocol/src/errors.js'
import {
  type Bond,
  isBondSufficient,
  replaceableSolvers,
  type Solver,
  type SolverKey,
  UNBONDED_LIFETIME_MS,
  withBond,
} from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { Chain } from '../../chain/chain.js'
import { startChainReloads } from '../../cluster/chain-reloads.js'
import { createRetry, RETRY_MS } from '../../concurrency/retry.js'
import type { RegistryContext } from '../registry/context.js'
import type { FreeBonds } from './free-bonds.js'

/** Keeps every registered solver active or inactive according to its bond. */
export type BondWatch = ReturnType<typeof startBondWatch>

/**
 * Starts the bond checks of all chains. The leader of a chain reads the bonds of all registered solvers at the start and
 * at every interval. After each block it reads the bonds that the contract's events name. A chain that does not answer
 * changes no solver's state (docs/decisions.md, D5). A bond that is not known is read at the next of these times.
 *
 * All replicas follow the free bonds that others store. At every interval, every replica reads the solvers from the store
 * again (docs/decisions.md, D14).
 */
export function startBondWatch(context: RegistryContext, freeBonds: FreeBonds) {
  const { instance, chains, clock, log } = context
  const { cluster } = instance
  const watches = new Map(
    [...chains].map(([chainId, chain]) => [chainId, watchChain(chain, context, freeBonds)] as const),
  )

  /** This replica also gets messages of its own writes, which change nothing. */
  async function reload(chainId: number): Promise<void> {
    if (await freeBonds.load(chainId)) watches.get(chainId)?.checkAll()
  }

  const chainIds = [...chains.keys()]
  const reloads = startChainReloads({ cluster, topic: 'bonds', chainIds, reload, clock, log })
  // Another replica may have stored bonds after they were loaded.
  for (const chainId of chainIds) reloads.reload(chainId)

  return {
    /** Stores the bond that a registration has read. It may be older than an event, so the bonds are read again. */
    async onRegistered(key: SolverKey, bond: Bond): Promise<void> {
      await freeBonds.updateRegistered(key, bond)
      watches.get(key.chainId)?.checkAll()
      // Removes solvers that are no longer registered: only registrations make memory grow.
      reloads.reload(key.chainId)
    },
    async close(): Promise<void> {
      await Promise.all([reloads, ...watches.values()].map((each) => each.close()))
    },
  }
}

function watchChain(chain: Chain, context: RegistryContext, freeBonds: FreeBonds) {
  const { config, directory, clock, log } = context
  const { bondCheckIntervalMs } = config
  const { chainId } = chain
  /** The solvers whose bonds the next round reads. */
  let wanted = new Set<Address>()
  let areAllWanted = false

  const readBonds = createBondRound(chain, context, freeBonds)

  const round = createRetry({
    async work() {
      if (!chain.isLeader() || (!areAllWanted && wanted.size === 0)) return
      const [isAll, touched] = [areAllWanted, wanted]
      areAllWanted = false
      wanted = new Set()
      try {
        const registered = directory.registered(chainId)
        await readBonds(isAll ? registered : registered.filter(({ address }) => touched.has(address)))
      } catch (error) {
        areAllWanted = true
        throw error
      }
    },
    delayMs: Math.min(RETRY_MS, bondCheckIntervalMs),
    onFailure: (error) =>
      log.warn(
        { chainId, reason: reasonOf(error) },
        'bonds could not be read or stored: the states of solvers stay the same',
      ),
    onRecovery() {
      if (chain.isLeader()) log.info({ chainId }, 'bonds are read and stored again')
    },
    clock,
  })

  function check(solvers: ReadonlySet<Address> | undefined): void {
    if (!chain.isLeader()) return
    if (solvers === undefined) areAllWanted = true
    else for (const solver of solvers) wanted.add(solver)
    round.run()
  }

  function checkAll(): void {
    check(undefined)
  }

  chain.addListener({ onBonds: check, onReset: checkAll })
  const timer = clock.setInterval(() => {
    directory.refresh(chainId)
    checkAll()
  }, bondCheckIntervalMs)
  checkAll()
  return {
    checkAll,
    async close(): Promise<void> {
      timer.stop()
      await round.close()
    },
  }
}

/**
 * Builds a function that reads the bonds of registered solvers of one chain, stores them, and makes each solver active or
 * inactive. It removes solvers that have lacked a sufficient bond for 24 hours (docs/decisions.md, D14).
 */
function createBondRound(
  chain: Chain,
  { config, instance, directory, clock, provenTime, log }: RegistryContext,
  freeBonds: FreeBonds,
): (solvers: readonly Solver[]) => Promise<void> {
  const { chainId } = chain
  const store = instance.stores.solvers

  /** @param solvers those whose bond was just read as insufficient */
  async function removeUnbonded(solvers: readonly Solver[]): Promise<void> {
    const before = provenTime() - UNBONDED_LIFETIME_MS
    for (const solver of replaceableSolvers(solvers, before)) {
      const { address, unbondedSince } = solver
      if (await directory.change(chainId, () => store.removeUnbonded(solver, before)))
        log.info({ chainId, solver: address, unbondedSince }, 'a solver was removed: no bond for 24 hours')
    }
  }

  /** Sends all reads of a round in one batch. If one fails, none counts. */
  return async (solvers) => {
    if (solvers.length === 0) return
    const read = await Promise.all(
      solvers.map(async (solver) => ({ solver, bond: await chain.readBond(solver.address) })),
    )
    await freeBonds.update(chainId, new Map(read.map(({ solver, bond }) => [solver.address, bond])))
    const unbonded: Solver[] = []
    for (const { solver, bond } of read) {
      const isBonded = isBondSufficient(bond, config.minSolverBond)
      if (!isBonded) unbonded.push(solver)
      if (withBond(solver, isBonded, clock.now()) === solver) continue
      await directory.change(chainId, () => store.setBonded(solver, isBonded, clock.now()))
      if (solver.isBonded !== isBonded)
        log.info(
          { chainId, solver: solver.address, isBonded },
          'a solver is active or inactive because its bond has changed',
        )
    }
    await removeUnbonded(unbonded)
  }
}
