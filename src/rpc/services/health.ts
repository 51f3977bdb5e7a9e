import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect'
import {
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus,
  Health as HealthService,
} from '../../../gen/health/v1/health_pb.js'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { shorten } from '../../../packages/protocol/src/values/text.js'
import { ClientCounts } from '../../clients/client-counts.js'
import type { ClientId } from '../../clients/client-id.js'
import { requestKey } from '../call-context.js'

/** The message repeats this much of an unknown name, as it is sent in a header. */
const MAX_NAME_LENGTH = 200
const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus

interface HealthOptions extends HealthWatchersOptions {
  /** Full names of the services whose health can be checked; the empty name stands for all. */
  readonly services: readonly string[]
  /** Whether the instance can serve calls now. */
  readonly isServing: () => boolean
}

/** Builds gRPC health checking (grpc.health.v1) of one server. All services of a server have the same status. */
export function createHealth(options: HealthOptions) {
  const { services, isServing } = options
  const names = new Set(['', ...services])
  const watchers = new HealthWatchers(options)
  let isDraining = false

  const statusNow = () => (!isDraining && isServing() ? SERVING : NOT_SERVING)
  const statusOf = (service: string) => (names.has(service) ? statusNow() : SERVICE_UNKNOWN)

  /** Yields the status now and after each change, until the caller leaves or the service drains. */
  async function* watch({ service }: HealthCheckRequest, { signal, values }: HandlerContext) {
    let wake = () => {}
    const onChange = () => wake()
    const client = values.get(requestKey).client
    watchers.add(onChange, client)
    signal.addEventListener('abort', onChange)
    try {
      let sent: HealthCheckResponse_ServingStatus | undefined
      while (!signal.aborted) {
        const changed = new Promise<void>((resolve) => {
          wake = resolve
        })
        const isLast = isDraining
        const status = statusOf(service)
        if (status !== sent) yield { status }
        if (isLast) return
        sent = status
        await changed
      }
    } finally {
      signal.removeEventListener('abort', onChange)
      watchers.remove(onChange, client)
    }
  }

  return {
    desc: HealthService,
    /** Adds the service to a Connect router. */
    routes: (router: ConnectRouter) =>
      router.service(HealthService, {
        check({ service }) {
          if (!names.has(service))
            throw new ConnectError(
              `This server has no service ${shorten(service, MAX_NAME_LENGTH)}.`,
              Code.NotFound,
            )
          return { status: statusNow() }
        },
        list: () => ({
          statuses: Object.fromEntries([...names].map((name) => [name, { status: statusNow() }])),
        }),
        watch,
      }),
    /** The same for REST. @throws ServiceError SHUTTING_DOWN or CHAIN_UNAVAILABLE while no service is serving */
    assertServing(): void {
      if (isDraining) throw new ServiceError('SHUTTING_DOWN', 'The service is shutting down.')
      if (!isServing()) throw new ServiceError('CHAIN_UNAVAILABLE', 'No chain answers at the moment.')
    },
    /** From now on no service is serving. Watchers get this status, and their streams end. */
    drain(): void {
      isDraining = true
      watchers.wakeAll()
    },
  }
}

interface HealthWatchersOptions {
  /** How often watchers are woken to check for a change while there are any, in milliseconds. */
  readonly watchIntervalMs: number
  /** The most watchers at the same time. */
  readonly maxWatchers: number
  /** The most watchers of one client at the same time. */
  readonly maxWatchersPerClient: number
}

/** The open streams of health checking. */
class HealthWatchers {
  readonly #watchIntervalMs: number
  readonly #counts: ClientCounts
  readonly #wakers = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined

  constructor({ watchIntervalMs, maxWatchers, maxWatchersPerClient }: HealthWatchersOptions) {
    this.#watchIntervalMs = watchIntervalMs
    this.#counts = new ClientCounts({ perClient: maxWatchersPerClient, total: maxWatchers })
  }

  /**
   * Adds a watcher, and wakes it at every interval.
   * @throws ConnectError RESOURCE_EXHAUSTED when there are as many as are allowed
   */
  add(wake: () => void, client: ClientId): void {
    const limit = this.#counts.fullAt(client)
    if (limit !== undefined) {
      const who =
        limit === 'total' ? 'All clients together have' : 'This client, its network or its region has'
      throw new ConnectError(`${who} as many health watchers as are allowed.`, Code.ResourceExhausted)
    }
    this.#counts.add(client)
    this.#wakers.add(wake)
    this.#timer ??= setInterval(() => this.wakeAll(), this.#watchIntervalMs).unref()
  }

  remove(wake: () => void, client: ClientId): void {
    this.#wakers.delete(wake)
    this.#counts.remove(client)
    if (this.#wakers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  wakeAll(): void {
    for (const wake of this.#wakers) wake()
  }
}
