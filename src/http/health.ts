import type { FastifyInstance } from 'fastify'
import type { Chain } from '../chain/chain.js'
import type { Registry } from '../solvers/registry.js'

interface HealthOptions {
  readonly version: string
  readonly chains: ReadonlyMap<number, Pick<Chain, 'status'>>
  readonly registry: Pick<Registry, 'active'>
  readonly now: () => number
}

/** Serves `/health`: 200 in any case, `degraded` while some chain does not answer (decisions.md D11). */
export function registerHealth(server: FastifyInstance, options: HealthOptions): void {
  const { version, chains, registry, now } = options
  const startedAt = now()
  const supportedChains = [...chains.keys()]

  server.get('/health', async () => {
    const statuses = [...chains.values()].map((chain) => chain.status())
    const activeSolvers = supportedChains.map((chainId) => [chainId, registry.active(chainId).length])
    return {
      status: statuses.some(({ status }) => status === 'down') ? 'degraded' : 'ok',
      version,
      uptime: Math.floor((now() - startedAt) / 1000),
      timestamp: now(),
      supportedChains,
      activeSolvers: Object.fromEntries(activeSolvers),
      chains: statuses.map(({ chainId, status, headBlock, lagMs }) => ({
        chainId,
        status,
        headBlock,
        lagMs,
      })),
    }
  })
}
