import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, systemClock, type Timer } from '../../../packages/protocol/src/clock.js'
import { reasonOf } from '../../../packages/protocol/src/errors.js'
import type { StreamEvent } from '../../../packages/protocol/src/orders/event.js'
import { type CoolDown, firstHour, lastCoolDown } from '../../../packages/protocol/src/solvers/cool-down.js'
import { keyOf, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import { hourOf } from '../../../packages/protocol/src/solvers/solver-statistics.js'
import { createRetry } from '../../concurrency/retry.js'
import type { SolverOrderStore } from '../../store/orders/solver-order-store.js'
import type { Logger } from '../../telemetry/log.js'

/**
 * The cool-downs of solvers (docs/decisions.md, D20). They follow from the orders in the database. So all replicas have them,
 * and a restart keeps them.
 */
export interface CoolDowns {
  /** The cool-down of a solver; undefined when none lasts now. */
  of(key: SolverKey): CoolDown | undefined
  /** Reads the solvers with refunds from the database. Call it once, after `onEvent` hears all events. */
  load(): Promise<void>
  /** To be called with each event that any replica has published. The orders of its solver are read again soon. */
  onEvent(event: StreamEvent): void
  close(): Promise<void>
}

interface CoolDownsOptions {
  /** Length of the first cool-down of a solver; 0 for none at all. */
  readonly fadeCooldownSeconds: number
  readonly chains: readonly { readonly chainId: number }[]
  readonly store: Pick<SolverOrderStore, 'readHours' | 'readRefunded'>
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly clock?: Clock
  readonly log: Logger
}

/** The orders of a solver are read at most that often, and all solvers one after the other. */
const TICK_MS = 1000
/** Cool-downs that last are read again that often: a new settlement contract removes orders without an event. */
const REFRESH_TICKS = 60
/** An earlier refund has no cool-down that still lasts. */
const LOADED_HOURS = 24

/**
 * Builds the cool-downs. A database error leaves the last known ones, and the read is repeated.
 * @returns undefined when the instance has none
 */
export function createCoolDowns(options: CoolDownsOptions): CoolDowns | undefined {
  const { fadeCooldownSeconds, chains, store, now, clock = systemClock, log } = options
  if (fadeCooldownSeconds === 0) return undefined
  const lasting = new Map<string, SolverKey & CoolDown>()
  /** Solvers with refunds. Events of others change no cool-down, unless they are refunds or reversions. */
  const withRefunds = new Set<string>()
  const unread = new Map<string, SolverKey>()
  let ticking: Timer | undefined
  let ticks = 0
  let isClosed = false

  const reading = createRetry({
    work: readAll,
    // The next tick comes first.
    delayMs: 2 * TICK_MS,
    clock,
    onFailure: (error) =>
      log.error(
        { reason: reasonOf(error) },
        'cool-downs of solvers could not be read: the last known ones stay',
      ),
    onRecovery: () => log.info('cool-downs of solvers are read again'),
  })

  /** Reads the solvers that were noted, and keeps those that could not be read. */
  async function readAll(): Promise<void> {
    for (const [id, key] of [...unread]) {
      // SQLite reads in this thread.
      await nextTurn()
      if (isClosed) return
      // Before the read, so that an event during the read notes it again.
      unread.delete(id)
      try {
        await read(id, key)
      } catch (error) {
        unread.set(id, key)
        throw error
      }
    }
  }

  async function read(id: string, key: SolverKey): Promise<void> {
    const refunded = await store.readRefunded(key.chainId, key.address)
    if (refunded.length === 0) withRefunds.delete(id)
    else withRefunds.add(id)
    const since = firstHour(refunded)
    const hours = since === undefined ? [] : await store.readHours(key.chainId, since, key.address)
    apply(id, key, lastCoolDown(refunded, hours, fadeCooldownSeconds))
  }

  function apply(id: string, key: SolverKey, coolDown: CoolDown | undefined): void {
    if (coolDown === undefined || coolDown.until <= now()) {
      end(id)
      return
    }
    const before = lasting.get(id)
    lasting.set(id, { ...key, ...coolDown })
    if (before?.until === coolDown.until) return
    const { chainId, address } = key
    log.warn(
      {
        chainId,
        solver: address,
        level: coolDown.level,
        seconds: Math.ceil((coolDown.until - now()) / 1000),
      },
      'deposited orders of a solver were refunded: it cools down, and is not asked',
    )
  }

  function end(id: string): void {
    const ended = lasting.get(id)
    if (ended === undefined) return
    lasting.delete(id)
    log.info({ chainId: ended.chainId, solver: ended.address }, 'the cool-down of a solver has ended')
  }

  function tick(): void {
    ticks++
    for (const [id, coolDown] of lasting) {
      if (coolDown.until <= now()) end(id)
      else if (ticks % REFRESH_TICKS === 0) note(coolDown)
    }
    if (unread.size > 0) reading.run()
  }

  function note({ chainId, address }: SolverKey): void {
    unread.set(keyOf({ chainId, address }), { chainId, address })
  }

  return {
    of(key) {
      if (lasting.size === 0) return undefined
      const coolDown = lasting.get(keyOf(key))
      return coolDown !== undefined && coolDown.until > now() ? coolDown : undefined
    },

    async load() {
      for (const { chainId } of chains) {
        const hours = await store.readHours(chainId, hourOf(now() / 1000) - LOADED_HOURS)
        for (const { solver, refunded } of hours) if (refunded > 0) note({ chainId, address: solver })
      }
      await readAll()
      if (!isClosed) ticking = clock.setInterval(tick, TICK_MS)
    },

    onEvent({ type, chainId, solver }) {
      if (solver === undefined) return
      const key = { chainId, address: solver }
      if (type === 'Refunded' || type === 'Reverted' || withRefunds.has(keyOf(key))) note(key)
    },

    async close() {
      isClosed = true
      ticking?.stop()
      await reading.close()
    },
  }
}
