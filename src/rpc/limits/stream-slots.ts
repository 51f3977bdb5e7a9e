import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { ClientCounts, type CountLimit } from '../../clients/client-counts.js'
import type { ClientId } from '../../clients/client-id.js'

/** The slots for streams, on all transports together (docs/decisions.md, D14). */
export type StreamSlots = ReturnType<typeof createStreamSlots>

/** The limit that a rejected stream has reached. */
export const STREAM_LIMITS = ['client', 'network', 'instance'] as const

type StreamLimit = (typeof STREAM_LIMITS)[number]

interface StreamSlotsOptions {
  readonly maxStreamClients: number
  /** Streams of one client; 0 is no limit. */
  readonly maxStreamClientsPerIp: number
  /** Called with each rejection. */
  onRejected?(limit: StreamLimit): void
}

/** An API key may have this many times the streams of an address, unless the operator has set its limit. */
const KEY_FACTOR = 5

/**
 * Builds the slots. An IPv6 /56 has 4 times the slots of a client, and a /48 has 16 times. Each of them, and each region,
 * has at most a quarter of all.
 */
export function createStreamSlots(options: StreamSlotsOptions) {
  const { maxStreamClients, maxStreamClientsPerIp, onRejected = () => {} } = options
  const slots = new ClientCounts({
    perClient: maxStreamClientsPerIp,
    total: maxStreamClients,
    ofKeys: { name: 'open-streams', factor: KEY_FACTOR },
  })

  function reject(limit: CountLimit, client: ClientId): never {
    onRejected(limit === 'total' ? 'instance' : limit === 'client' ? 'client' : 'network')
    throw new ServiceError('STREAM_LIMIT_REACHED', explain(limit, client))
  }

  function explain(limit: CountLimit, client: ClientId): string {
    if (limit === 'total')
      return `All ${maxStreamClients} streams of this instance are open (MAX_STREAM_CLIENTS).`
    if (limit !== 'client') return 'The network or the region of this client has all of its streams open.'
    const most = `all of its ${slots.limitOfClient(client)} streams open`
    return client.apiKey === undefined
      ? `This client has ${most} (MAX_STREAM_CLIENTS_PER_IP).`
      : `This API key has ${most}.`
  }

  return {
    /**
     * Takes a slot.
     * @param end called with an error of the API key when it is no longer valid: the stream must end
     * @returns a function that releases the slot; a second call does nothing
     * @throws ServiceError STREAM_LIMIT_REACHED, or API_KEY_INVALID
     */
    take(client: ClientId, end: (error: unknown) => void): () => void {
      const ended = client.apiKey?.ended
      ended?.throwIfAborted()
      const limit = slots.fullAt(client)
      if (limit !== undefined) reject(limit, client)
      slots.add(client)
      let isTaken = true
      const onKeyEnded = () => end(ended?.reason)
      ended?.addEventListener('abort', onKeyEnded)
      return () => {
        if (!isTaken) return
        isTaken = false
        ended?.removeEventListener('abort', onKeyEnded)
        slots.remove(client)
      }
    },
  }
}
