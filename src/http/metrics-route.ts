import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { coalesce } from '../concurrency/coalesce.js'
import type { Metrics } from '../telemetry/metrics.js'

interface MetricsRouteOptions {
  readonly metrics: Metrics
  /** `user:password` for Basic authentication; without it, the route is open (docs/decisions.md, D11). */
  readonly auth: string | undefined
  /** Updates the metrics that are read at this time and not counted. */
  readonly collectMetrics: () => void
}

/** Serves `/metrics` in Prometheus's text format. */
export function registerMetrics(server: FastifyInstance, options: MetricsRouteOptions): void {
  const { auth, collectMetrics } = options
  const { registry } = options.metrics
  const render = coalesce(async () => {
    collectMetrics()
    return Buffer.from(await registry.metrics())
  })
  const expected = auth === undefined ? undefined : digest(`Basic ${Buffer.from(auth).toString('base64')}`)

  server.get('/metrics', async (request, reply) => {
    if (expected !== undefined && !timingSafeEqual(expected, digest(authorization(request)))) {
      reply.header('www-authenticate', 'Basic realm="metrics", charset="UTF-8"')
      return reply.code(401).type('text/plain').send('Basic authentication is required.\n')
    }
    return reply.type(registry.contentType).send(await render())
  })
}

function authorization({ headers }: FastifyRequest): string {
  return headers.authorization ?? ''
}

/** All digests have one length, so that the time of a comparison reveals nothing. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
