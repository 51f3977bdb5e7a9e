import type { ClientId } from '../domain/client.js'
import { ClientCounts } from '../domain/client-counts.js'
import { ServiceError } from '../domain/errors.js'

/** The places of connections without an accepted hello. */
export interface PendingPlaces {
  /** @throws ServiceError SESSION_LIMIT_REACHED when there is no place for this client */
  assertFree(client: ClientId): void
  /**
   * Takes a place.
   * @returns a function that releases it; a second call does nothing
   * @throws ServiceError SESSION_LIMIT_REACHED
   */
  take(client: ClientId): () => void
  /** Number of places that are taken. */
  count(): number
}

const MAX_PENDING = 256
const MAX_PENDING_OF_CLIENT = 4

/** Builds the places. A network has at most a quarter of them, as of all that clients share (docs/decisions.md, D14). */
export function createPendingPlaces(): PendingPlaces {
  const places = new ClientCounts({ perClient: MAX_PENDING_OF_CLIENT, total: MAX_PENDING })

  function assertFree(client: ClientId): void {
    const limit = places.fullAt(client)
    if (limit === undefined) return
    const who = limit === 'total' ? 'All clients' : limit === 'client' ? 'This client' : 'This network'
    const message = `${who} may not have more connections that have not sent their hello. Try again in some seconds.`
    throw new ServiceError('SESSION_LIMIT_REACHED', message)
  }

  return {
    assertFree,
    take(client) {
      assertFree(client)
      places.add(client)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        places.remove(client)
      }
    },
    count: () => places.held,
  }
}
