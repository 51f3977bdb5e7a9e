import type { Chain } from '../chain/chain.js'
import type { ClusterBus } from '../domain/cluster.js'
import type { Address } from '../domain/hex.js'
import type { SolverKey } from '../domain/solver.js'
import type { Logger } from '../telemetry/log.js'
import { createNonceChecks } from './nonce-checks.js'
import { createNonceMemory } from './nonce-memory.js'
import { createNonceSamples } from './nonce-samples.js'
import { createNonceStrikes } from './nonce-strikes.js'
import type { SolverDirectory } from './solver-directory.js'

/**
 * The known nonces that the contract would reject (docs/decisions.md, D13). Cancelled ones come from their event, others
 * from reads, as order events have no nonce. A nonce is read when a solver has sent it twice, or when it is chosen at
 * random. A solver that continues to send used nonces is suspended for a time.
 */
export interface UsedNonces {
  /**
   * Records that a solver has sent a nonce; reads nothing.
   * @returns whether the offer must be dropped: the nonce is known to be used, or the solver is suspended
   */
  recordSent(key: SolverKey, nonce: bigint): boolean
  /** Whether an offer with this nonce must be dropped; records nothing. */
  isUsed(key: SolverKey, nonce: bigint): boolean
  close(): void
}

type NonceChain = Pick<Chain, 'chainId' | 'isNonceUsed' | 'lastBlockHash' | 'wasNonceUsed' | 'addListener'>

interface UsedNoncesOptions {
  readonly chains: ReadonlyMap<number, NonceChain>
  readonly directory: Pick<SolverDirectory, 'registered'>
  readonly cluster: ClusterBus
  readonly maxSolversPerChain: number
  /** Milliseconds that never go back. */
  readonly clock: () => number
  readonly log: Logger
}

/** The messages between replicas; nonces are decimal. */
type Message =
  | { readonly chainId: number; readonly solver: Address; readonly used: readonly string[] }
  /** A nonce that was already used when the solver sent it. */
  | { readonly chainId: number; readonly solver: Address; readonly usedBefore: string }
  | { readonly chainId: number; readonly doubt: true }

/** Nonces of each kind in memory, for all solvers of a chain together. Each solver has an equal part. */
const MAX_NONCES_PER_CHAIN = 50_000
const MAX_NONCES_PER_SOLVER = 1000
/** The nonces that fit into a message of PostgreSQL, which is shorter than 8,000 bytes. */
const MAX_NONCES_IN_MESSAGE = 80

/** Builds the memory of all chains. A restart empties it. */
export function createUsedNonces(options: UsedNoncesOptions): UsedNonces {
  const { cluster } = options
  const chains = new Map(
    [...options.chains].map(([chainId, chain]) => [chainId, createChainNonces(chain, options)]),
  )
  cluster.listen('nonces', {
    onMessage(text) {
      const message: Message = JSON.parse(text)
      const chain = chains.get(message.chainId)
      if ('doubt' in message) chain?.doubt()
      else if ('usedBefore' in message) chain?.strike(message.solver, BigInt(message.usedBefore))
      else for (const nonce of message.used) chain?.setUsed(message.solver, BigInt(nonce))
    },
    onMissed() {
      for (const chain of chains.values()) chain.doubt()
    },
  })
  return {
    recordSent: ({ chainId, address }, nonce) => chains.get(chainId)?.recordSent(address, nonce) ?? false,
    isUsed: ({ chainId, address }, nonce) => chains.get(chainId)?.isUsed(address, nonce) ?? false,
    close() {
      for (const chain of chains.values()) chain.close()
    },
  }
}

function createChainNonces(chain: NonceChain, options: UsedNoncesOptions) {
  const { chainId } = chain
  const { directory, cluster, maxSolversPerChain, clock, log } = options
  const maxNonces = Math.min(MAX_NONCES_PER_SOLVER, Math.ceil(MAX_NONCES_PER_CHAIN / maxSolversPerChain))
  const memory = createNonceMemory({ maxSolvers: maxSolversPerChain, maxNonces })
  const strikes = createNonceStrikes(maxSolversPerChain)
  /** The number of doubts. A read that began before the last one has no valid result. */
  let doubts = 0

  const checks = createNonceChecks(async (solver, { nonce, block }) => {
    const doubtsBefore = doubts
    const isUsed = await chain.isNonceUsed(solver, nonce)
    // An order may have used it after the offer came: only the state at that time counts as a strike.
    const wasUsed = isUsed && block !== undefined && (await chain.wasNonceUsed(solver, nonce, block))
    if (doubts !== doubtsBefore) return
    if (!isUsed) return memory.setUnused(solver, nonce, clock())
    log.info({ chainId, solver, nonce: String(nonce) }, 'a solver has sent a nonce that is used')
    if (wasUsed) {
      strike(solver, nonce)
      publish({ chainId, solver, usedBefore: String(nonce) })
    } else {
      memory.setUsed(solver, nonce)
      publishUsed(solver, [nonce])
    }
  })
  const samples = createNonceSamples(checks.add)

  /** Counts one strike for a nonce, even if it comes several times or several replicas find it. */
  function strike(solver: Address, nonce: bigint): void {
    const isKnown = memory.hasUsed(solver, nonce)
    memory.setUsed(solver, nonce)
    const suspensionMs = isKnown ? undefined : strikes.strike(solver, clock())
    if (suspensionMs === undefined) return
    const seconds = suspensionMs / 1000
    log.warn({ chainId, solver, seconds }, 'a solver repeats used nonces: all its offers are dropped')
  }

  const publish = (message: Message) => cluster.publish('nonces', JSON.stringify(message))

  function publishUsed(solver: Address, nonces: readonly bigint[]): void {
    for (let start = 0; start < nonces.length; start += MAX_NONCES_IN_MESSAGE) {
      const used = nonces.slice(start, start + MAX_NONCES_IN_MESSAGE).map(String)
      publish({ chainId, solver, used })
    }
  }

  function doubt(): void {
    doubts++
    memory.doubt()
  }

  chain.addListener({
    onNoncesCancelled(cancelled) {
      // Anyone can cancel nonces, so only those of registered solvers are kept.
      for (const { address } of directory.registered(chainId)) {
        const nonces = cancelled.filter(({ solver }) => solver === address).map(({ nonce }) => nonce)
        for (const nonce of nonces) memory.setUsed(address, nonce)
        publishUsed(address, nonces)
      }
    },
    onReset() {
      doubt()
      publish({ chainId, doubt: true })
    },
  })

  return {
    recordSent(solver: Address, nonce: bigint): boolean {
      const now = clock()
      if (strikes.isSuspended(solver, now)) return true
      const state = memory.sent(solver, nonce, now)
      const makeSent = () => ({ nonce, block: chain.lastBlockHash() })
      if (state === 'fresh') samples.add(solver, makeSent)
      if (state === 'repeated' || state === 'doubted') checks.add(solver, makeSent())
      return state === 'used' || state === 'doubted'
    },
    isUsed: (solver: Address, nonce: bigint) =>
      strikes.isSuspended(solver, clock()) || memory.hasUsed(solver, nonce),
    setUsed: memory.setUsed,
    strike,
    doubt,
    close() {
      checks.close()
      samples.close()
    },
  }
}
