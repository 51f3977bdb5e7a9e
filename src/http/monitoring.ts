import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { wrongSkewMs } from '../chain/clock-skew.js'
import type { InstanceContext } from '../cluster/instance.js'
import { coalesce } from '../concurrency/one-at-a-time.js'
import { version } from '../config/version.js'
import type { RegistryContext } from '../solvers/registry/context.js'

/**
 * Serves `/health` and `/health/ready` (docs/decisions.md, D11). `/health` is always 200, and `degraded` while a chain or
 * the database does not answer. `/health/ready` is 200 only while the instance can serve calls.
 * @param assertServing throws ServiceError while it cannot
 */
export function registerHealth(
  server: FastifyInstance,
  { instance, chains, directory, clock }: RegistryContext,
  assertServing: () => void,
): void {
  const startedAt = clock.monotonic()
  const supportedChains = [...chains.keys()]

  server.get('/health', async () => {
    const statuses = [...chains.values()].map((chain) => chain.status())
    const activeSolvers = supportedChains.map((chainId) => [chainId, directory.active(chainId).length])
    const database = instance.cluster.isDatabaseUp() ? 'ok' : 'down'
    const isDegraded = [database, ...statuses.map(({ status }) => status)].includes('down')
    return {
      status: isDegraded ? 'degraded' : 'ok',
      version,
      uptime: Math.floor((clock.monotonic() - startedAt) / 1000),
      timestamp: clock.now(),
      supportedChains,
      activeSolvers: Object.fromEntries(activeSolvers),
      database,
      chains: statuses.map(({ chainId, status, headBlock, lagMs, clockSkewMs, unread, endpoints }) => ({
        chainId,
        status,
        headBlock,
        lagMs,
        clockSkewMs: wrongSkewMs(clockSkewMs),
        unread,
        ...(endpoints.length > 0 && { endpoints }),
      })),
    }
  })

  server.get('/health/ready', async () => {
    assertServing()
    return { status: 'ready' }
  })
}

/** After a run, the next one waits this many times as long. So nobody takes more than a fifth of the time by reading in a loop. */
const REST_FACTOR = 4

/**
 * Serves `/metrics` in Prometheus's text format, open without METRICS_AUTH (docs/decisions.md, D11).
 * @param collectMetrics updates the metrics that are read at this time and not counted
 */
export function registerMetrics(
  server: FastifyInstance,
  { config, metrics, clock }: InstanceContext,
  collectMetrics: () => void | Promise<void>,
): void {
  const { metricsAuth: auth } = config
  const { registry } = metrics
  let restsUntil = clock.monotonic()
  const render = coalesce(async () => {
    await clock.sleep(Math.max(0, restsUntil - clock.monotonic()))
    const startedAt = clock.monotonic()
    await collectMetrics()
    const text = Buffer.from(await registry.metrics())
    restsUntil = clock.monotonic() + REST_FACTOR * (clock.monotonic() - startedAt)
    return text
  })
  const expected = auth === undefined ? undefined : digest(`Basic ${Buffer.from(auth).toString('base64')}`)

  server.get('/metrics', async (request, reply) => {
    // The router decodes other spellings, such as /%6detrics, which a proxy that hides this path lets through.
    if (!/^\/metrics(\?|$)/.test(request.raw.url ?? '')) return reply.callNotFound()
    // A page that the operator's browser shows may not read them.
    reply.removeHeader('access-control-allow-origin')
    if (expected !== undefined && !timingSafeEqual(expected, digest(request.headers.authorization ?? ''))) {
      reply.header('www-authenticate', 'Basic realm="metrics", charset="UTF-8"')
      return reply.code(401).type('text/plain').send('Basic authentication is required.\n')
    }
    return reply.type(registry.contentType).send(await render())
  })
}

/** All digests have one length, so that the time of a comparison reveals nothing. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
