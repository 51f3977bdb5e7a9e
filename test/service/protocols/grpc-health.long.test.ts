import { Code } from '@connectrpc/connect'
import { afterEach, describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { type ModelTestChain, startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startServiceProcess } from '../../support/process/process.js'
import { describeSlow } from '../../support/rounds.js'
import { environmentFor, startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'
import { createHealthClient, type HealthClient } from './health-client.js'

const SERVICES = ['ChainService', 'EventService', 'OrderService', 'QuoteService', 'SolverService'].map(
  (name) => `aggregator.v1.${name}`,
)
const UNKNOWN = 'aggregator.v1.NoService'

let service: TestService | undefined
let health: HealthClient

const chains = await Promise.all([
  shared(startModelChain({ bonded: 1 })),
  shared(startModelChain({ chainId: 31338, bonded: 0 })),
])

const nodes = [await shared(chains[0].openNode()), await shared(chains[1].openNode())] as const

afterEach(async () => {
  health?.close()
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
  health = createHealthClient(service.url)
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
  it('gets SERVING for the server and each of its services', async () => {
    await start([chains[0]])
    for (const name of ['', ...SERVICES]) expect(await health.check(name)).toBe('SERVING')
  })

  it('gets NOT_SERVING while no chain answers', async () => {
    const running = await start([chains[0]])
    nodes[0].setState('down')
    await untilChains(running, 'down')
    for (const name of ['', ...SERVICES]) expect(await health.check(name)).toBe('NOT_SERVING')
    await expect(health.check(UNKNOWN)).rejects.toMatchObject({ code: Code.NotFound })
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

describeSlow('a client of grpc.health.v1 Watch', () => {
  it('gets NOT_SERVING before its stream ends, while the process drains', async () => {
    const process = startServiceProcess(environmentFor(chains[0]))
    const [, url = ''] = await process.waitFor(/"url":"([^"]+)"/)
    health = createHealthClient(url)
    const post = (path: string, body: unknown) => postJson(`${url}${path}`, body)
    const [asked, held] = [deferred(), deferred()]
    const solver = await startSolver(chains[0], solverAccounts[0], async (...ask) => {
      asked.open()
      await held.opened
      return honest()(...ask)
    })
    await solver.register({ post })
    const watches = ['', 'aggregator.v1.QuoteService'].map((name) => health.watch(name))
    for (const watch of watches) expect(await watch.next()).toBe('SERVING')
    let isQuoted = false
    const quote = post(`/v1/${chains[0].chainId}/quote`, quoteRequest(chains[0])).finally(() => {
      isQuoted = true
    })
    await asked.opened

    process.signal('SIGTERM')
    for (const watch of watches) {
      expect(await watch.next()).toBe('NOT_SERVING')
      expect(await watch.next()).toBeUndefined()
    }
    expect(isQuoted).toBe(false)
    held.open()
    expect((await quote).status).toBe(200)
    expect(await process.exited).toBe(0)
    await solver.close()
  })
})

async function postJson(url: string, body: unknown) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
