import { Code, createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { afterEach, describe, expect, it } from 'vitest'
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../../gen/health/v1/health_pb.js'
import { createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { eventually } from '../../support/eventually.js'
import { type ModelTestChain, startModelChain } from '../../support/model-chain/start-model-chain.js'
import { environmentFor, startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

const SERVICES = ['ChainService', 'EventService', 'OrderService', 'QuoteService', 'SolverService'].map(
  (name) => `aggregator.v1.${name}`,
)
const UNKNOWN = 'aggregator.v1.NoService'

let service: TestService | undefined

const chains = await Promise.all([
  shared(startModelChain({ bonded: 1 })),
  shared(startModelChain({ chainId: 31338, bonded: 0 })),
])

const nodes = [await shared(chains[0].openNode()), await shared(chains[1].openNode())] as const

afterEach(async () => {
  await service?.close()
  service = undefined
  for (const node of nodes) node.setState('up')
})

/** A service whose nodes the test takes down, and which it polls often. */
async function start(served: readonly ModelTestChain[], environment: Record<string, string> = {}) {
  const variables = served.flatMap((chain) => [
    ...Object.entries(environmentFor(chain)),
    [`RPC_URL_${chain.chainId}`, nodes[chains.indexOf(chain)]?.url ?? ''],
    [`POLL_INTERVAL_MS_${chain.chainId}`, '50'],
  ])
  const supported = { SUPPORTED_CHAINS: served.map(({ chainId }) => chainId).join() }
  service = await startService(chains[0], { ...Object.fromEntries(variables), ...supported, ...environment })
  return service
}

/** Waits until `/health` has these statuses of the chains, in their order. */
function untilChains({ get }: TestService, ...wanted: string[]) {
  return eventually(
    async () => (await get('/health')).body.chains.map(({ status }: { status: string }) => status),
    (statuses) => statuses.join() === wanted.join(),
  )
}

describe('a client of grpc.health.v1 Check', () => {
  const check = async ({ url }: TestService, name: string) => {
    const health = createClient(Health, createGrpcTransport({ baseUrl: url }))
    return (await health.check({ service: name })).status
  }

  it('gets SERVING for the server and each of its services', async () => {
    const running = await start([chains[0]])
    for (const name of ['', ...SERVICES]) expect(await check(running, name)).toBe(Status.SERVING)
  })

  it('gets NOT_SERVING while no chain answers', async () => {
    const running = await start([chains[0]])
    nodes[0].setState('down')
    await untilChains(running, 'down')
    for (const name of ['', ...SERVICES]) expect(await check(running, name)).toBe(Status.NOT_SERVING)
    await expect(check(running, UNKNOWN)).rejects.toMatchObject({ code: Code.NotFound })
  })
})

describe('GET /health/ready', () => {
  const readiness = async ({ get }: TestService) => {
    const { status, body, headers } = await get('/health/ready')
    expect(headers.get('ratelimit-limit')).toBeNull()
    return [status, body.code ?? body.status]
  }

  it('answers 503 before the first answer of the chain and while it is down, and 200 in between', async () => {
    nodes[0].setState('down')
    const running = await start([chains[0]])
    expect(await readiness(running)).toEqual([503, 'CHAIN_UNAVAILABLE'])
    // The process itself is alive.
    expect((await running.get('/health')).status).toBe(200)
    nodes[0].setState('up')
    await untilChains(running, 'ok')
    expect(await readiness(running)).toEqual([200, 'ready'])
    nodes[0].setState('down')
    await untilChains(running, 'down')
    expect(await readiness(running)).toEqual([503, 'CHAIN_UNAVAILABLE'])
  })

  it('answers 200 while one chain of two answers', async () => {
    const running = await start(chains)
    nodes[0].setState('down')
    await untilChains(running, 'down', 'ok')
    expect(await readiness(running)).toEqual([200, 'ready'])
    nodes[1].setState('down')
    await untilChains(running, 'down', 'down')
    expect(await readiness(running)).toEqual([503, 'CHAIN_UNAVAILABLE'])
  })

  it('answers 503 on open connections while the service drains', async () => {
    const running = await start([chains[0]])
    const http = createRawHttpClient(running.url)
    const ask = async () => {
      const { status, text } = await http.send('GET', '/health/ready')
      return [status, JSON.parse(text).code]
    }
    expect(await ask()).toEqual([200, undefined])
    service = undefined
    const closed = running.close({ drainMs: 5000 })
    expect(await ask()).toEqual([503, 'SHUTTING_DOWN'])
    http.close()
    await closed
  })
})
