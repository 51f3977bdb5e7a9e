import type { FastifyInstance } from 'fastify'
import type { Chain } from '../chain/chain.js'
import type { SolverDirectory } from '../solvers/registry/solver-directory.js'

interface HealthOptions {
  readonly version: string
  readonly chains: ReadonlyMap<number, Pick<Chain, 'status'>>
  readonly directory: Pick<SolverDirectory, 'active'>
  /** Whether the database can be reached. */
  readonly isDatabaseUp: () => boolean
  /** @throws ServiceError while the instance can serve no calls */
  readonly assertServing: () => void
  readonly now: () => number
}

/**
 * Serves `/health` and `/health/ready` (docs/decisions.md, D11). `/health` is always 200, and `degraded` while a chain or
 * the database does not answer. `/health/ready` is 200 only while the instance can serve calls.
 */
export function registerHealth(server: FastifyInstance, options: HealthOptions): void {
  const { version, chains, directory, isDatabaseUp, assertServing, now } = options
  const startedAt = now()
  const supportedChains = [...chains.keys()]

  server.get('/health', async () => {
    const statuses = [...chains.values()].map((chain) => chain.status())
    const activeSolvers = supportedChains.map((chainId) => [chainId, directory.active(chainId).length])
    const database = isDatabaseUp() ? 'ok' : 'down'
    const isDegraded = [database, ...statuses.map(({ status }) => status)].includes('down')
    return {
      status: isDegraded ? 'degraded' : 'ok',
      version,
      uptime: Math.floor((now() - startedAt) / 1000),
      timestamp: now(),
      supportedChains,
      activeSolvers: Object.fromEntries(activeSolvers),
      database,
      chains: statuses.map(({ chainId, status, headBlock, lagMs, unread }) => ({
        chainId,
        status,
        headBlock,
        lagMs,
        unread,
      })),
    }
  })

  server.get('/health/ready', async () => {
    assertServing()
    return { status: 'ready' }
  })
}
