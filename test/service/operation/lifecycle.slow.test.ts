import { once } from 'node:events'
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { deferred } from '../../support/deferred.js'
import { startServiceProcess } from '../../support/process/process.js'
import { MISSING } from '../../support/service/missing-variables.js'
import { environmentFor, startService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
})
afterAll(() => chain?.stop())

describe('a start with a wrong configuration', () => {
  it('reports all missing variables, points to the demo, and exits with 1', async () => {
    const start = startServiceProcess({})
    expect(await start.exited).toBe(1)
    for (const text of MISSING) expect(start.output()).toContain(text)
  })

  it('reports every mistake at once', async () => {
    const start = startServiceProcess({
      SUPPORTED_CHAINS: '1,x',
      RPC_URL_1: 'ftp://a',
      PORT: '70000',
      MIN_SOLVER_BOND: '1.5',
    })
    expect(await start.exited).toBe(1)
    for (const name of ['SUPPORTED_CHAINS', 'RPC_URL_1', 'SERVICE_ADDRESS_1', 'PORT', 'MIN_SOLVER_BOND']) {
      expect(start.output()).toMatch(new RegExp(`^  ${name} `, 'm'))
    }
  })

  it('reports a chain with another id, and an address without a contract', async () => {
    const start = startServiceProcess({
      ...environmentFor(chain),
      SUPPORTED_CHAINS: `1,${chain.chainId}`,
      RPC_URL_1: chain.devnet.rpcUrl,
      SERVICE_ADDRESS_1: chain.contracts.settlement,
      [`SERVICE_ADDRESS_${chain.chainId}`]: solverAccounts[0].address,
    })
    expect(await start.exited).toBe(1)
    expect(start.output()).toMatch(new RegExp(`RPC_URL_1 answers for chain ${chain.chainId}, and not for 1`))
    expect(start.output()).toMatch(new RegExp(`SERVICE_ADDRESS_${chain.chainId} is .* has no contract`))
    // The mistakes are not logged too.
    expect(start.output()).not.toContain('"level":50')
  })

  it('reports a port that is taken, a foreign address, and a database that cannot be opened', async () => {
    const taken = await startService(chain)
    await expect(startService(chain, { PORT: new URL(taken.url).port })).rejects.toThrow(
      /^PORT is \d+, which is in use: set another one, /,
    )
    await taken.close()
    await expect(startService(chain, { HOST: '192.0.2.1' })).rejects.toThrow(
      /^HOST is "192.0.2.1", which is not an address of this machine: it must be /,
    )
    await expect(startService(chain, { HOST: 'fe80::1' })).rejects.toThrow(
      /^HOST is "fe80::1", which (cannot be listened on \(\w+\)|is not an address of this machine): it must be /,
    )
    await expect(startService(chain, { DB_PATH: '/no/such/folder/file.db' })).rejects.toThrow(
      /^DB_PATH is .*cannot be opened/,
    )
  })

  it('reports a contract of another kind', async () => {
    const environment = { [`SERVICE_ADDRESS_${chain.chainId}`]: chain.contracts.weth }
    await expect(startService(chain, environment)).rejects.toThrow(
      /not a settlement contract of this protocol/,
    )
  })
})

describe('a service', () => {
  /** A service with an open quote, whose solver answers on a signal. */
  async function startBusyService() {
    // A solver that waits for its signal is not late.
    const environment = { ...environmentFor(chain), QUOTE_TIMEOUT_MS: '60000' }
    const service = startServiceProcess(environment, {
      preload: ['./test/support/process/reject-on-signal.mjs'],
    })
    const [, url = ''] = await service.waitFor(/"url":"([^"]+)"/)
    const post = (path: string, body: unknown) => postJson(`${url}${path}`, body)
    const held = deferred()
    const asked = deferred()
    const solver = await startSolver(chain, solverAccounts[0], async (...ask) => {
      asked.open()
      await held.opened
      return honest()(...ask)
    })
    await solver.register({ post })
    const idle = await idleConnection(url)
    const quote = post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    await asked.opened
    return { service, url, idle, quote, answer: held.open, close: solver.close }
  }

  it('finishes an open quote on SIGTERM, closes idle connections, and exits with 0', async () => {
    const { service, url, idle, quote, answer, close } = await startBusyService()
    const grpc = createGrpcClient(url)
    await grpc.call('SolverService', 'ListSolvers', { chainId: chain.chainId })

    service.signal('SIGTERM')
    await once(idle, 'close')
    await expect(fetch(`${url}/health`)).rejects.toThrow()
    answer()

    expect((await quote).status).toBe(200)
    expect(await service.exited).toBe(0)
    grpc.close()
    await close()
  })

  it('exits with 0 on SIGTERM while it still waits for a chain', async () => {
    const silent = createServer()
    const asked = once(silent, 'request')
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const environment = { ...environmentFor(chain), [`RPC_URL_${chain.chainId}`]: `http://127.0.0.1:${port}` }
    const service = startServiceProcess(environment)
    await asked
    service.signal('SIGTERM')
    expect(await service.exited).toBe(0)
    silent.closeAllConnections()
    silent.close()
  })

  it('exits with 0 on SIGTERM when nobody reads its log any more', async () => {
    const service = startServiceProcess(environmentFor(chain))
    await service.waitFor(/"url"/)
    service.child.stdout.destroy()
    service.signal('SIGTERM')
    expect(await service.exited).toBe(0)
  })

  it('logs an unhandled rejection, drains, and exits with 1', async () => {
    const { service, idle, quote, answer, close } = await startBusyService()
    service.signal('SIGUSR2')
    await once(idle, 'close')
    answer()

    expect((await quote).status).toBe(200)
    expect(await service.exited).toBe(1)
    expect(service.output()).toMatch(/"level":60.*nobody caught this/)
    await close()
  })
})

async function postJson(url: string, body: unknown) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** A keep-alive connection after its response. */
async function idleConnection(url: string) {
  const call = httpRequest(`${url}/health`, { agent: new Agent({ keepAlive: true }) }).end()
  const [response] = await once(call, 'response')
  const { socket } = response
  response.resume()
  await once(response, 'end')
  return socket
}
