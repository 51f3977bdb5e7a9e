import { once } from 'node:events'
import { Agent, createServer, request as httpRequest } from 'node:http'
import { createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { describe, expect, it } from 'vitest'
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../../gen/health/v1/health_pb.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { deferred } from '../../support/deferred.js'
import { listen } from '../../support/listen.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startServiceProcess } from '../../support/process/process.js'
import { environmentFor, sendTo } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'

const chain = await shared(startModelChain({ bonded: 1 }))

describe('a service', () => {
  /** A service with an open quote, whose solver answers on a signal. */
  async function startBusyService() {
    // A solver that waits for its signal is not late.
    const environment = { ...environmentFor(chain), QUOTE_TIMEOUT_MS: '60000' }
    const service = startServiceProcess(environment, {
      preload: ['./test/service/operation/reject-on-signal.mjs'],
    })
    const [, url = ''] = await service.waitFor(/"url":"([^"]+)"/)
    const { post } = sendTo(url)
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

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends on %s in order: watchers hear of it, its open quote is answered, and the log says so',
    async (signal) => {
      const { service, url, idle, quote, answer, close } = await startBusyService()
      const health = createClient(Health, createGrpcTransport({ baseUrl: url }))
      const watch = health.watch({})[Symbol.asyncIterator]()
      const nextStatus = async () => (await watch.next()).value?.status
      expect(await nextStatus()).toBe(Status.SERVING)

      service.signal(signal)
      expect([await nextStatus(), await nextStatus()]).toEqual([Status.NOT_SERVING, undefined])
      await once(idle, 'close')
      await expect(fetch(`${url}/health`)).rejects.toThrow()
      answer()

      expect((await quote).status).toBe(200)
      expect(await service.exited).toBe(0)
      const messages = [...service.output().matchAll(/"msg":"(.*?)"/g)].map(([, message]) => message)
      expect(messages).toContain(`stopping: ${signal}`)
      expect(messages.at(-1)).toBe('stopped')
      await close()
    },
  )

  it('exits with 0 on SIGTERM while it still waits for a chain', async () => {
    const silent = createServer()
    const asked = once(silent, 'request')
    const { port } = await listen(silent)
    const environment = { ...environmentFor(chain), [`RPC_URL_${chain.chainId}`]: `http://127.0.0.1:${port}` }
    const service = startServiceProcess(environment)
    await asked
    service.signal('SIGTERM')
    expect(await service.exited).toBe(0)
    silent.closeAllConnections()
    silent.close()
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

/** A keep-alive connection after its response. */
async function idleConnection(url: string) {
  const call = httpRequest(`${url}/health`, { agent: new Agent({ keepAlive: true }) }).end()
  const [response] = await once(call, 'response')
  const { socket } = response
  response.resume()
  await once(response, 'end')
  return socket
}
