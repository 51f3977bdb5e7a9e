import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'

/**
 * Builds the subscriptions to the heads of a chain's endpoints, none at first.
 * @param current returns the endpoint that is polled
 * @param onLost called when the subscription to an endpoint has ended with its socket
 */
export function createHeadSubscriptions(current: () => Endpoint, onLost: (endpoint: Endpoint) => void) {
  /** With whether it has pushed a head. */
  const subscribed = new Map<Endpoint, boolean>()
  let pushed: object | undefined

  return {
    has: (endpoint: Endpoint): boolean => subscribed.has(endpoint),
    /** Whether an endpoint has pushed a head since the subscription to it began. Some accept one, and push nothing. */
    isPushing: (endpoint: Endpoint): boolean => subscribed.get(endpoint) === true,
    /**
     * Subscribes to an endpoint that pushes heads, unless it is subscribed to.
     * @param onNews called after a head of the endpoint in use was pushed, and after the end of the subscription
     * @throws Error when the endpoint does not answer
     */
    async subscribe(endpoint: Endpoint, onNews: () => void): Promise<void> {
      if (endpoint.subscribeToHeads === undefined || subscribed.has(endpoint)) return
      subscribed.set(endpoint, false)
      const onHead = (head: object) => {
        if (subscribed.has(endpoint)) subscribed.set(endpoint, true)
        if (endpoint !== current()) return
        pushed = head
        onNews()
      }
      const onEnd = () => {
        onLost(endpoint)
        if (subscribed.delete(endpoint)) onNews()
      }
      if (!(await endpoint.subscribeToHeads(onHead, onEnd))) subscribed.delete(endpoint)
    },
    /** Notes that a subscription has ended. */
    remove(endpoint: Endpoint): void {
      subscribed.delete(endpoint)
    },
    /** Whether a head was pushed that has not been taken. */
    hasHead: (): boolean => pushed !== undefined,
    /** Returns the last pushed head once, as it came: a hint which block to read (docs/decisions.md, D22). */
    takeHead(): object | undefined {
      const head = pushed
      pushed = undefined
      return head
    },
  }
}
