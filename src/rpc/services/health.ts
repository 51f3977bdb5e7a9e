import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
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

interface HealthOptions {
  /** How often watchers look for a change, in milliseconds. */
  readonly watchIntervalMs: number
  /** The most watchers at the same time. */
  readonly maxWatchers: number
  /** The most watchers of one client at the same time. */
  readonly maxWatchersPerClient: number
  /** Full names of the services whose health can be checked; the empty name stands for all. */
  readonly services: readonly string[]
  /** Whether the instance can serve calls now. */
  readonly isServing: () => boolean
}

/** Builds gRPC health checking (grpc.health.v1) of one server. All services of a server have the same status. */
export function createHealth(options: HealthOptions) {
  const { services, isServing, watchIntervalMs, maxWatchers, maxWatchersPerClient } = options
  const names = new Set(['', ...services])
  const watchers = new ClientCounts({ perClient: maxWatchersPerClient, total: maxWatchers })
  const draining = new AbortController()
  // Each watcher adds a listener. Node warns of a leak when there are more than ten.
  setMaxListeners(0, draining.signal)

  const statusNow = () => (!draining.signal.aborted && isServing() ? SERVING : NOT_SERVING)
  const statusOf = (service: string) => (names.has(service) ? statusNow() : SERVICE_UNKNOWN)

  /** @throws ConnectError RESOURCE_EXHAUSTED when there are as many watchers as are allowed */
  function addWatcher(client: ClientId): void {
    const limit = watchers.fullAt(client)
    if (limit !== undefined) {
      const who =
        limit === 'total' ? 'All clients together have' : 'This client, its network or its region has'
      throw new ConnectError(`${who} as many health watchers as are allowed.`, Code.ResourceExhausted)
    }
    watchers.add(client)
  }

  /** Yields the status now and after each change, until the caller leaves or the service drains. */
  async function* watch({ service }: HealthCheckRequest, { signal, values }: HandlerContext) {
    const { client } = values.get(requestKey)
    addWatcher(client)
    const end = new AbortController()
    const stop = () => end.abort()
    for (const each of [signal, draining.signal]) each.addEventListener('abort', stop)
    try {
      let sent: HealthCheckResponse_ServingStatus | undefined
      while (!signal.aborted) {
        const isLast = draining.signal.aborted
        const status = statusOf(service)
        if (status !== sent) yield { status }
        if (isLast) return
        sent = status
        await pause(watchIntervalMs, undefined, { signal: end.signal, ref: false }).catch(() => {})
      }
    } finally {
      for (const each of [signal, draining.signal]) each.removeEventListener('abort', stop)
      watchers.remove(client)
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
      if (draining.signal.aborted) throw new ServiceError('SHUTTING_DOWN', 'The service is shutting down.')
      if (!isServing()) throw new ServiceError('CHAIN_UNAVAILABLE', 'No chain answers at the moment.')
    },
    /** From now on no service is serving. Watchers get this status, and their streams end. */
    drain: (): void => draining.abort(),
  }
}
