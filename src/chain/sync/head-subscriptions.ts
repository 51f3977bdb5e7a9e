import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import type { Logger } from '../../telemetry/log.js'
import type { EndpointSelector } from './endpoint-selector.js'

/** Subscriptions to new heads at the endpoints of one chain that push them. */
export interface HeadSubscriptions {
  has(endpoint: Endpoint): boolean
  /**
   * Subscribes to an endpoint that pushes heads, unless it is subscribed to.
   * @param onNews called after a head of the endpoint in use was pushed, and after the end of the subscription
   * @throws Error when the endpoint does not answer
   */
  subscribe(endpoint: Endpoint, onNews: () => void): Promise<void>
  /** Notes that a subscription has ended. */
  remove(endpoint: Endpoint): void
  /** Whether a head was pushed that has not been taken. */
  hasHead(): boolean
  /** Returns the last pushed head once, as it came: a hint which block to read (docs/decisions.md, D22). */
  takeHead(): object | undefined
}

interface HeadSubscriptionsOptions {
  readonly chainId: number
  readonly selector: EndpointSelector
  readonly log: Logger
}

/** Builds the subscriptions, none at first. */
export function createHeadSubscriptions({
  chainId,
  selector,
  log,
}: HeadSubscriptionsOptions): HeadSubscriptions {
  const subscribed = new Set<Endpoint>()
  let pushed: object | undefined

  return {
    has: (endpoint) => subscribed.has(endpoint),
    async subscribe(endpoint, onNews) {
      if (endpoint.subscribeToHeads === undefined || subscribed.has(endpoint)) return
      subscribed.add(endpoint)
      const onHead = (head: object) => {
        if (endpoint !== selector.current()) return
        pushed = head
        onNews()
      }
      const onLost = () => {
        if (subscribed.delete(endpoint)) onNews()
      }
      const isAccepted = await endpoint.subscribeToHeads(onHead, onLost)
      if (isAccepted) return
      subscribed.delete(endpoint)
      log.debug({ chainId, endpoint: selector.index() + 1 }, 'the endpoint does not push new heads')
    },
    remove(endpoint) {
      subscribed.delete(endpoint)
    },
    hasHead: () => pushed !== undefined,
    takeHead() {
      const head = pushed
      pushed = undefined
      return head
    },
  }
}
