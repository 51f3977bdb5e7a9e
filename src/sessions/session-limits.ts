import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { groupBy } from '../../packages/protocol/src/values/parts.js'
import type { ClientId } from '../clients/client-id.js'

interface Slot {
  readonly client: ClientId
  readonly onDropped: (error: ServiceError) => void
}

const MAX_PENDING = 256
const MAX_PENDING_OF_CLIENT = 4

/**
 * Builds the slots of connections without an accepted hello. Strangers with many addresses so cost each other their slots, and seldom a
 * solver (docs/decisions.md, D18).
 */
export function createPendingSlots() {
  /** The oldest first. */
  const slots = new Set<Slot>()

  function assertFree({ key }: ClientId): void {
    const own = [...slots].filter(({ client }) => client.key === key).length
    if (own >= MAX_PENDING_OF_CLIENT) throw limitReached('This client may not have more')
  }

  function freeSlot(): void {
    if (slots.size < MAX_PENDING) return
    const [oldest] = largestGroup(largestGroup([...slots], regionOf), networkOf)
    if (oldest === undefined) return
    slots.delete(oldest)
    oldest.onDropped(limitReached('Too many clients have'))
  }

  return {
    /** @throws ServiceError SESSION_LIMIT_REACHED when this client has all that one may have */
    assertFree,
    /**
     * Takes a slot. When there is none, the oldest connection of the largest group of addresses loses its slot.
     * @param onDropped called when the connection loses its slot
     * @returns a function that releases it; a second call does nothing
     * @throws ServiceError SESSION_LIMIT_REACHED
     */
    take(client: ClientId, onDropped: (error: ServiceError) => void): () => void {
      assertFree(client)
      freeSlot()
      const slot = { client, onDropped }
      slots.add(slot)
      return () => void slots.delete(slot)
    },
    /** Number of slots that are taken. */
    count: (): number => slots.size,
  }
}

const regionOf = ({ client }: Slot) => client.region
const networkOf = ({ client }: Slot) => client.network

/** The slots of the group that has most, in their order. */
function largestGroup(slots: readonly Slot[], groupOf: (slot: Slot) => string): readonly Slot[] {
  const groups = groupBy(slots, groupOf)
  return [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most), [])
}

function limitReached(who: string): ServiceError {
  const message = `${who} connections that have not sent their hello. Try again in some seconds.`
  return new ServiceError('SESSION_LIMIT_REACHED', message)
}

const MINUTE_MS = 60_000
/** More solvers than may register. The one goes whose last session is the oldest. */
const MAX_COUNTED = 10_000

/**
 * Counts the sessions that a solver opens in a minute, from all client addresses together: each is written to the database on all of its
 * chains, at its begin and at its end.
 * @param perMinute 0 is no limit
 * @param clock milliseconds that never go back
 */
export function createSessionRate(perMinute: number, clock: () => number) {
  const minutes = new LRUCache<Address, { readonly endsAt: number; sessions: number }>({ max: MAX_COUNTED })
  return {
    /**
     * Counts a session before it is opened, so that sessions at the same time count too.
     * @returns a function that takes back the count of a session that was not opened, so that strangers leave nothing
     * @throws ServiceError RATE_LIMITED
     */
    count(address: Address): () => void {
      const now = clock()
      const known = minutes.get(address)
      const minute =
        known !== undefined && now < known.endsAt ? known : { endsAt: now + MINUTE_MS, sessions: 0 }
      minutes.set(address, minute)
      minute.sessions++
      if (perMinute > 0 && minute.sessions > perMinute) {
        const retryAfterSeconds = Math.ceil((minute.endsAt - now) / 1000)
        const message = `Too many sessions of this solver: at most ${perMinute} a minute, try again in ${retryAfterSeconds} s.`
        throw new ServiceError('RATE_LIMITED', message, { retryAfterSeconds })
      }
      return () => {
        if (--minute.sessions === 0 && minutes.peek(address) === minute) minutes.delete(address)
      }
    },
  }
}
