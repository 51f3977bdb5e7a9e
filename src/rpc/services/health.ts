import type { DescService } from '@bufbuild/protobuf'
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect'
import {
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus,
  Health as HealthService,
} from '../../../gen/health/v1/health_pb.js'
import { ServiceError } from '../../domain/errors.js'
import { shorten } from '../../domain/values/text.js'
import { requestKey } from '../call-context.js'
import { identifyClient } from '../limits/identify-client.js'
import { HealthWatchers, type HealthWatchersOptions } from './health-watchers.js'

/** The message repeats this much of an unknown name, as it is sent in a header. */
const MAX_NAME_LENGTH = 200
const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus

/** gRPC health checking (grpc.health.v1) of one server. */
export interface Health {
  readonly desc: DescService
  /** Adds the service to a Connect router. */
  readonly routes: (router: ConnectRouter) => void
  /** The same for REST. @throws ServiceError SHUTTING_DOWN or CHAIN_UNAVAILABLE while no service is serving */
  assertServing(): void
  /** From now on no service is serving. Watchers get this status, and their streams end. */
  drain(): void
}

interface HealthOptions extends HealthWatchersOptions {
  /** Full names of the services whose health can be checked; the empty name stands for all. */
  readonly services: readonly string[]
  /** Whether the instance can serve calls now. */
  readonly isServing: () => boolean
}

/** Builds health checking. All services of a server have the same status. */
export function createHealth(options: HealthOptions): Health {
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
    const client = identifyClient(values.get(requestKey).address)
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
    routes: (router) =>
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
    assertServing() {
      if (isDraining) throw new ServiceError('SHUTTING_DOWN', 'The service is shutting down.')
      if (!isServing()) throw new ServiceError('CHAIN_UNAVAILABLE', 'No chain answers at the moment.')
    },
    drain() {
      isDraining = true
      watchers.wakeAll()
    },
  }
}
