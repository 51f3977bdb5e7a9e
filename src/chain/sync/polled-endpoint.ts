import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import type { Logger } from '../../telemetry/log.js'

/** Selects the endpoint of a chain to poll: the first one, unless it fails, lags or has lost its place. */
type EndpointSelector = ReturnType<typeof createEndpointSelector>

/** Time after which the first endpoint is tried again. */
const PREFERENCE_MS = 60_000

/** Builds the selector. It begins with the first endpoint. */
export function createEndpointSelector(
  endpoints: readonly Endpoint[],
  hasPlace: (endpoint: Endpoint) => boolean,
  clock: Pick<Clock, 'monotonic'>,
) {
  let index = 0
  let takenAt = clock.monotonic()

  function take(next: number): void {
    index = next % endpoints.length
    takenAt = clock.monotonic()
  }

  return {
    /** The endpoint in use. */
    current: (): Endpoint => endpoints[index] as Endpoint,
    /** Index of the endpoint in use, in the configured order. */
    index: (): number => index,
    /** The endpoint for the next poll. @param hasSucceeded whether the last poll of the current one succeeded */
    next(hasSucceeded: boolean): Endpoint {
      const first = endpoints.findIndex(hasPlace)
      const isLost = !hasPlace(endpoints[index] as Endpoint)
      const isTime = isLost || clock.monotonic() - takenAt > PREFERENCE_MS
      // After a failure, the next endpoint has its turn, also without its place.
      if (hasSucceeded && isTime && first >= 0 && first !== index) take(first)
      return endpoints[index] as Endpoint
    },
    /** Switches from the endpoint in use to the next one. */
    markFailed: (): void => take(index + 1),
  }
}

/**
 * Builds the subscriptions, none at first.
 * @param onLost called when the subscription to an endpoint has ended with its socket
 */
export function createHeadSubscriptions(
  chainId: number,
  selector: EndpointSelector,
  onLost: (endpoint: Endpoint) => void,
  log: Logger,
) {
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
        if (endpoint !== selector.current()) return
        pushed = head
        onNews()
      }
      const onEnd = () => {
        onLost(endpoint)
        if (subscribed.delete(endpoint)) onNews()
      }
      const isAccepted = await endpoint.subscribeToHeads(onHead, onEnd)
      if (isAccepted) return
      subscribed.delete(endpoint)
      log.debug({ chainId, endpoint: selector.index() + 1 }, 'the endpoint does not push new heads')
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
