import { type ClientId, NETWORK_FACTORS } from '../domain/client.js'
import { ClientCounts, type CountLimit } from '../domain/client-counts.js'
import { ServiceError } from '../domain/errors.js'

/** The places for streams, on all transports together (docs/decisions.md, D14). */
export interface StreamPlaces {
  /**
   * Takes a place.
   * @returns frees the place; a second call does nothing
   * @throws ServiceError STREAM_LIMIT_REACHED
   */
  take(client: ClientId): () => void
}

/** Which limit a refused stream has met. */
export const STREAM_LIMITS = ['client', 'network', 'instance'] as const

export type StreamLimit = (typeof STREAM_LIMITS)[number]

interface StreamPlacesOptions {
  readonly maxStreamClients: number
  /** Streams of one client; 0 is no limit. */
  readonly maxStreamClientsPerIp: number
  /** Called with each refusal. */
  onRefused?(limit: StreamLimit): void
}

/** Builds the places. An IPv6 /56 has 4 times and a /48 16 times the places of a client, at most a quarter of all, as a region has. */
export function createStreamPlaces(options: StreamPlacesOptions): StreamPlaces {
  const { maxStreamClients, maxStreamClientsPerIp, onRefused = () => {} } = options
  const places = new ClientCounts({ perClient: maxStreamClientsPerIp, total: maxStreamClients })

  function refuse(limit: CountLimit, client: ClientId): never {
    onRefused(limit === 'total' ? 'instance' : limit === 'client' ? 'client' : 'network')
    throw new ServiceError('STREAM_LIMIT_REACHED', explain(limit, client))
  }

  function explain(limit: CountLimit, { isIpv6 }: ClientId): string {
    if (limit === 'total') return `All ${maxStreamClients} stream places are taken (MAX_STREAM_CLIENTS).`
    if (limit === 'client')
      return `This client has all of its ${maxStreamClientsPerIp} streams open (MAX_STREAM_CLIENTS_PER_IP).`
    if (limit === 'region')
      return `The ${isIpv6 ? 'IPv6 /32' : 'IPv4 /16'} of this client has all of its ${places.maxOfRegion} streams, a quarter of MAX_STREAM_CLIENTS.`
    const { prefixLength } = limit
    const most = `${places.limitOf(limit)} streams, at most ${NETWORK_FACTORS[prefixLength]} times MAX_STREAM_CLIENTS_PER_IP`
    return `The IPv6 /${prefixLength} of this client has all of its ${most}.`
  }

  return {
    take(client) {
      const limit = places.fullAt(client)
      if (limit !== undefined) refuse(limit, client)
      places.add(client)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        places.remove(client)
      }
    },
  }
}
