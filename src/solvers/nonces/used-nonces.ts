import { reasonOf } from '../../../packages/protocol/src/errors.js'
import type { StreamEvent } from '../../../packages/protocol/src/orders/event.js'
import type { SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { inParts } from '../../../packages/protocol/src/values/parts.js'
import type { Chain } from '../../chain/chain.js'
import type { InstanceContext } from '../../cluster/instance.js'
import { createRetry } from '../../concurrency/retry.js'
import type { OfferNonce } from '../../store/solvers/offer-nonce-store.js'
import { createWriteBehind } from '../../store/write-behind.js'

/**
 * The nonces that the contract would refuse (docs/decisions.md, D25). Each offer for a caller is stored with its order id,
 * so that an event of the order makes its nonce used, at all replicas and over restarts.
 */
export type UsedNonces = ReturnType<typeof createUsedNonces>

/** The messages between replicas; nonces are decimal. */
type Message =
  | { readonly chainId: number; readonly solver: Address; readonly used: readonly string[] }
  /** Orders whose stored nonces another replica has changed. */
  | { readonly chainId: number; readonly orderIds: readonly Hex[] }

/** The newest used nonces of a solver in memory and in the database. */
const MAX_USED = 10_000
const MAX_BATCH = 500
/** The order ids, or nonces, that fit into a message of PostgreSQL, which is shorter than 8,000 bytes. */
const MAX_IN_MESSAGE = 80

/** Builds the memory of all chains, over the table that replicas share. */
export function createUsedNonces({ config, instance, metrics, clock, log }: InstanceContext) {
  const { cluster } = instance
  const store = instance.stores.offerNonces
  const chainIds = config.chains.map(({ chainId }) => chainId)
  const memory = createNonceSets(MAX_USED)
  /** Orders whose nonces are to be read, by chain. */
  const changed = new Map<number, Set<Hex>>()
  let mustReload = false
  const writer = createWriteBehind<OfferNonce>({
    save: store.save,
    maxBatch: MAX_BATCH,
    what: 'nonces of offers',
    counter: metrics.offerNonces,
    clock,
    log,
  })
  const reading = createRetry({
    work: readChanges,
    clock,
    onFailure: (error) => log.warn({ reason: reasonOf(error) }, 'used nonces could not be read'),
    onRecovery: () => log.info('used nonces are read again'),
  })

  async function readChanges(): Promise<void> {
    if (mustReload) await readAll()
    for (const [chainId, orders] of [...changed]) {
      // Before the reads, so that an event during them has its order read again.
      changed.delete(chainId)
      try {
        await readOrders(chainId, [...orders])
      } catch (error) {
        note(chainId, [...orders])
        throw error
      }
    }
  }

  /**
   * The offer of an order may wait here, so it is written before it is read. The process that changes rows notifies the
   * others.
   */
  async function readOrders(chainId: number, orderIds: readonly Hex[]): Promise<void> {
    if (!(await writer.flush())) throw new Error('the database cannot be reached')
    const hasChanged = await store.markOrders(chainId, orderIds)
    for (const { solver, nonce, isUsed } of await store.readOrders(chainId, orderIds))
      memory.set({ chainId, address: solver }, nonce, isUsed)
    if (hasChanged) publishInParts(orderIds, (part) => ({ chainId, orderIds: part }))
  }

  async function readAll(): Promise<void> {
    mustReload = false
    try {
      for (const chainId of chainIds) {
        await store.markOrders(chainId)
        memory.replace(chainId, await store.readUsed(chainId, MAX_USED))
      }
      for (const { chainId, orderId, solver, nonce } of writer.waiting())
        if (orderId === undefined) memory.set({ chainId, address: solver }, nonce, true)
    } catch (error) {
      mustReload = true
      throw error
    }
  }

  function note(chainId: number, orderIds: readonly Hex[]): void {
    const orders = changed.get(chainId) ?? new Set()
    for (const orderId of orderIds) orders.add(orderId)
    changed.set(chainId, orders)
  }

  function publishInParts<T>(items: readonly T[], toMessage: (part: readonly T[]) => Message): void {
    for (const part of inParts(items, MAX_IN_MESSAGE))
      cluster.publish('nonces', JSON.stringify(toMessage(part)))
  }

  cluster.listen('nonces', {
    onMessage(text) {
      const message: Message = JSON.parse(text)
      const { chainId } = message
      if ('used' in message)
        for (const nonce of message.used)
          memory.set({ chainId, address: message.solver }, BigInt(nonce), true)
      else {
        note(chainId, message.orderIds)
        reading.run()
      }
    },
    onMissed() {
      mustReload = true
      reading.run()
    },
  })

  return {
    /** Whether an offer with this nonce must be dropped; reads memory only. */
    isUsed: memory.has,
    /** Stores the nonce of an offer that goes to a caller, some time later. */
    recordOffer(chainId: number, { orderId, quote: { solver, nonce, fillDeadline } }: SignedQuote): void {
      writer.add({ chainId, orderId, solver, nonce, until: fillDeadline, offeredAt: clock.now() })
    },
    /** Records nonces that the contract has called used without an order: cancelled ones, or those of a refused offer. */
    setUsed(key: SolverKey, nonces: readonly bigint[]): void {
      const { chainId, address: solver } = key
      const offeredAt = clock.now()
      const until = Math.floor(offeredAt / 1000)
      for (const nonce of nonces) {
        memory.set(key, nonce, true)
        writer.add({ chainId, orderId: undefined, solver, nonce, until, offeredAt })
      }
      // After the write, so that a replica that misses the message finds the rows when it reads them again.
      void writer
        .flush()
        .then(() => publishInParts(nonces.map(String), (used) => ({ chainId, solver, used })))
    },
    /** To be called with each event that any replica has published. */
    onEvent({ chainId, orderId }: Pick<StreamEvent, 'chainId' | 'orderId'>): void {
      note(chainId, [orderId])
      reading.run()
    },
    /** Reads the used nonces from the database. Call it once, after `onEvent` hears all events. */
    load: readAll,
    async close(): Promise<void> {
      await reading.close()
      await writer.close()
    },
  }
}

/** Follows the cancellations of a chain. Anyone can cancel nonces, so only those of registered solvers are kept. */
export function followCancellations(
  { chainId, addListener }: Chain,
  registered: (chainId: number) => readonly { readonly address: Address }[],
  { setUsed }: UsedNonces,
): void {
  addListener({
    onNoncesCancelled(cancelled) {
      for (const { address } of registered(chainId)) {
        const nonces = cancelled.filter(({ solver }) => solver === address).map(({ nonce }) => nonce)
        if (nonces.length > 0) setUsed({ chainId, address }, nonces)
      }
    },
  })
}

/**
 * Builds the used nonces of solvers in memory, empty at first. Each solver has a bounded number, so that none can evict
 * those of another.
 * @param maxNonces of one solver; of more, the oldest goes first
 */
function createNonceSets(maxNonces: number) {
  const chains = new Map<number, Map<Address, Set<bigint>>>()
  return {
    has: ({ chainId, address }: SolverKey, nonce: bigint): boolean =>
      chains.get(chainId)?.get(address)?.has(nonce) ?? false,
    /** Adds a nonce as the newest one of its solver, or removes it. */
    set({ chainId, address }: SolverKey, nonce: bigint, isUsed: boolean): void {
      const solvers = chains.get(chainId) ?? new Map<Address, Set<bigint>>()
      const nonces = solvers.get(address) ?? new Set()
      nonces.delete(nonce)
      if (isUsed) nonces.add(nonce)
      for (const oldest of nonces) {
        if (nonces.size <= maxNonces) break
        nonces.delete(oldest)
      }
      chains.set(chainId, solvers.set(address, nonces))
    },
    /** Replaces all nonces of a chain. @param used by solver, the oldest first */
    replace(chainId: number, used: ReadonlyMap<Address, readonly bigint[]>): void {
      const solvers = new Map([...used].map(([solver, nonces]) => [solver, new Set(nonces)]))
      chains.set(chainId, solvers)
    },
  }
}
