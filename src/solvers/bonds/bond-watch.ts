import type { Chain } from '../../chain/chain.js'
import { createRetry } from '../../concurrency/retry.js'
import type { ClusterBus } from '../../domain/cluster.js'
import { reasonOf } from '../../domain/errors.js'
import type { Bond, SolverKey } from '../../domain/solvers/solver.js'
import type { Address } from '../../domain/values/hex.js'
import { followReplicas } from '../registry/follow-replicas.js'
import type { SolverDirectory } from '../registry/solver-directory.js'
import { type BondRoundOptions, createBondRound } from './bond-round.js'
import type { FreeBonds } from './free-bonds.js'

/** Keeps every registered solver active or inactive according to its bond. */
export interface BondWatch {
  /** Stores the bond that a registration has read. It may be older than an event, so the bonds are read again. */
  onRegistered(key: SolverKey, bond: Bond): Promise<void>
  close(): Promise<void>
}

interface BondWatchOptions extends BondRoundOptions {
  readonly directory: Pick<SolverDirectory, 'registered' | 'refresh' | 'change'>
  readonly freeBonds: FreeBonds
  readonly cluster: Pick<ClusterBus, 'listen'>
  readonly chains: ReadonlyMap<number, WatchedChain>
  readonly bondCheckIntervalMs: number
}

/** A round that failed is repeated after this time, or after the check's interval if that is shorter. */
const RETRY_MS = 1000

/**
 * Starts the bond checks of all chains. The leader of a chain reads the bonds of all registered solvers at the start and
 * at every interval. After each block it reads the bonds that the contract's events name. A chain that does not answer
 * changes no solver's state (docs/decisions.md, D5). A bond that is not known is read at the next of these times.
 *
 * All replicas follow the free bonds that others store. At every interval, every replica reads the solvers from the store
 * again (docs/decisions.md, D14).
 */
export function startBondWatch(options: BondWatchOptions): BondWatch {
  const { cluster, freeBonds, chains, log } = options
  const watches = new Map(
    [...chains].map(([chainId, chain]) => [chainId, watchChain(chain, options)] as const),
  )

  /** This replica also gets messages of its own writes, which change nothing. */
  async function reload(chainId: number): Promise<void> {
    if (await freeBonds.load(chainId)) watches.get(chainId)?.checkAll()
  }

  const chainIds = [...chains.keys()]
  const follower = followReplicas({ cluster, topic: 'bonds', chainIds, reload, log })
  // Another replica may have stored bonds after they were loaded.
  for (const chainId of chainIds) follower.reload(chainId)

  return {
    async onRegistered(key, bond) {
      await freeBonds.updateRegistered(key, bond)
      watches.get(key.chainId)?.checkAll()
      // Removes solvers that are no longer registered: only registrations make memory grow.
      follower.reload(key.chainId)
    },
    async close() {
      await Promise.all([follower, ...watches.values()].map((each) => each.close()))
    },
  }
}

type WatchedChain = Pick<Chain, 'chainId' | 'isLeader' | 'readBond' | 'addListener'>

interface ChainWatch {
  checkAll(): void
  close(): Promise<void>
}

function watchChain(chain: WatchedChain, options: BondWatchOptions): ChainWatch {
  const { directory, bondCheckIntervalMs, log } = options
  const { chainId } = chain
  /** The solvers whose bonds the next round reads. */
  let wanted = new Set<Address>()
  let areAllWanted = false

  const readBonds = createBondRound(chain, options)

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
  const timer = setInterval(() => {
    directory.refresh(chainId)
    checkAll()
  }, bondCheckIntervalMs)
  checkAll()
  return {
    checkAll,
    async close() {
      clearInterval(timer)
      await round.close()
    },
  }
}
