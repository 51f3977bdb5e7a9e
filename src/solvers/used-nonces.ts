import type { Chain } from '../chain/chain.js'
import type { Address } from '../domain/hex.js'
import type { Replicas } from '../domain/replicas.js'
import type { SolverKey } from '../domain/solver.js'
import type { Logger } from '../telemetry/log.js'
import { createNonceChecks } from './nonce-checks.js'
import { createNonceMemory } from './nonce-memory.js'
import type { Registry } from './registry.js'

/**
 * The nonces that the contract would refuse, as far as they are known (decisions.md D13): cancelled ones by their event,
 * others once a solver has sent them twice, as order events carry no nonce.
 */
export interface UsedNonces {
  /**
   * Takes note that a solver has sent a nonce; reads nothing.
   * @returns whether it is known to be used
   */
  isKnown(key: SolverKey, nonce: bigint): boolean
  close(): void
}

type NonceChain = Pick<Chain, 'chainId' | 'isNonceUsed' | 'onNonceEvents'>

interface UsedNoncesOptions {
  readonly chains: ReadonlyMap<number, NonceChain>
  readonly registry: Pick<Registry, 'registered'>
  readonly replicas: Pick<Replicas, 'listen' | 'tell'>
  readonly maxSolversPerChain: number
  readonly log: Logger
}

/** What replicas send each other; nonces in decimal. */
type Message =
  | { readonly chainId: number; readonly solver: Address; readonly used: readonly string[] }
  | { readonly chainId: number; readonly doubt: true }

/** Nonces of each kind in memory, of all solvers of a chain together; each solver has its part. */
const MAX_NONCES_PER_CHAIN = 50_000
const MAX_NONCES_PER_SOLVER = 1000
/** So many nonces fit a message of PostgreSQL, which is shorter than 8,000 bytes. */
const MAX_NONCES_IN_MESSAGE = 80

/** Builds the memory of all chains. A restart empties it. */
export function createUsedNonces(options: UsedNoncesOptions): UsedNonces {
  const { replicas } = options
  const chains = new Map(
    [...options.chains].map(([chainId, chain]) => [chainId, createChainNonces(chain, options)]),
  )
  replicas.listen('nonces', {
    onText(text) {
      const message: Message = JSON.parse(text)
      const chain = chains.get(message.chainId)
      if ('doubt' in message) chain?.doubt()
      else for (const nonce of message.used) chain?.setUsed(message.solver, BigInt(nonce))
    },
    onMissed() {
      for (const chain of chains.values()) chain.doubt()
    },
  })
  return {
    isKnown: ({ chainId, address }, nonce) => chains.get(chainId)?.isKnown(address, nonce) ?? false,
    close() {
      for (const chain of chains.values()) chain.close()
    },
  }
}

function createChainNonces(chain: NonceChain, options: UsedNoncesOptions) {
  const { chainId } = chain
  const { registry, replicas, maxSolversPerChain, log } = options
  const maxNonces = Math.min(MAX_NONCES_PER_SOLVER, Math.ceil(MAX_NONCES_PER_CHAIN / maxSolversPerChain))
  const memory = createNonceMemory({ maxSolvers: maxSolversPerChain, maxNonces })
  /** Answers of reads that began before the last doubt say nothing. */
  let doubts = 0

  const checks = createNonceChecks(async (solver, nonce) => {
    const doubtsBefore = doubts
    const isUsed = await chain.isNonceUsed(solver, nonce)
    if (doubts !== doubtsBefore) return
    if (!isUsed) return memory.setUnused(solver, nonce, performance.now())
    memory.setUsed(solver, nonce)
    tellUsed(solver, [nonce])
    log.info({ chainId, solver, nonce: String(nonce) }, 'a solver repeats a used nonce')
  })

  const tell = (message: Message) => replicas.tell('nonces', JSON.stringify(message))

  function tellUsed(solver: Address, nonces: readonly bigint[]): void {
    for (let start = 0; start < nonces.length; start += MAX_NONCES_IN_MESSAGE) {
      const used = nonces.slice(start, start + MAX_NONCES_IN_MESSAGE).map(String)
      tell({ chainId, solver, used })
    }
  }

  function doubt(): void {
    doubts++
    memory.doubt()
  }

  chain.onNonceEvents({
    onCancelled(cancelled) {
      // Anyone can cancel nonces: only those of registered solvers take memory.
      for (const { address } of registry.registered(chainId)) {
        const nonces = cancelled.filter(({ solver }) => solver === address).map(({ nonce }) => nonce)
        for (const nonce of nonces) memory.setUsed(address, nonce)
        tellUsed(address, nonces)
      }
    },
    onDoubt() {
      doubt()
      tell({ chainId, doubt: true })
    },
  })

  return {
    isKnown(solver: Address, nonce: bigint): boolean {
      const state = memory.sent(solver, nonce, performance.now())
      if (state === 'repeated' || state === 'doubted') checks.add(solver, nonce)
      return state === 'used' || state === 'doubted'
    },
    setUsed: memory.setUsed,
    doubt,
    close: checks.close,
  }
}
