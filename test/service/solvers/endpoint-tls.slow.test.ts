import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate, type SubjectAltNameEntry } from 'selfsigned'
import { afterAll, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { listen } from '../../support/listen.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startServiceProcess } from '../../support/process/process.js'
import { environmentFor, startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { register, startSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts
const KEYS = { keyType: 'ec', algorithm: 'sha256' } as const
const FOR_NAME: SubjectAltNameEntry = { type: 2, value: 'localhost' }
const FOR_ADDRESS: SubjectAltNameEntry = { type: 7, ip: '127.0.0.1' }

const quoted = { by: account.address, asks: 1 }

const servers: Server[] = []
/** The TLS proxies close the connections of the next requests in these ways. */
const closings: ((socket: Socket) => void)[] = []

const chain = await shared(startModelChain({ bonded: 1 }))
const solver = await shared(startSolver(chain, account))
const folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-tls-'))
const authority = await generate([{ name: 'commonName', value: 'Test CA' }], {
  ...KEYS,
  extensions: [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ],
})
await writeFile(join(folder, 'ca.pem'), authority.cert)

afterAll(async () => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
  await rm(folder, { recursive: true, force: true })
})

/**
 * Starts a TLS proxy before the solver, with a certificate for `subjects` by the test's CA. @returns its port
 */
async function startTls(...subjects: SubjectAltNameEntry[]): Promise<number> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'A solver' }], {
    ...KEYS,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [{ name: 'subjectAltName', altNames: subjects }],
  })
  const server = createServer({ key, cert }, (request, response) => {
    const close = closings.shift()
    if (close !== undefined) return close(request.socket)
    const { method, headers } = request
    const forwarded = httpRequest(`${solver.endpointUrl}/quote`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forwarded)
  })
  servers.push(server)
  return (await listen(server)).port
}

it('a certificate of an unknown authority is rejected, also outside of production', async () => {
  const port = await startTls(FOR_NAME)
  const service = await startService(chain)
  await register(service, chain.chainId, account, { endpointUrl: `https://localhost:${port}` })
  const { body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  expect(body.code).toBe('NO_QUOTES')
  expect(await service.metric('aggregator_solver_replies_total', { outcome: 'failed' })).toBe(1)
  expect(solver.asks).toEqual([])
  await service.close()
})

/** A service in production that trusts the test's authority. */
async function startTrusting() {
  const service = startServiceProcess({
    ...environmentFor(chain),
    NODE_ENV: 'production',
    SOLVER_ENDPOINT_ALLOWLIST: 'localhost,127.0.0.1',
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  })
  const [, url] = await service.waitFor(/"url":"([^"]+)"/)
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) }
  }
  const quote = async () => {
    solver.asks.length = 0
    const { body } = await post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    return { by: body.quote?.solver ?? body.code, asks: solver.asks.length }
  }
  const quoteFrom = async (endpointUrl: string) => {
    await register({ post }, chain.chainId, account, { endpointUrl })
    return quote()
  }
  return { service, quote, quoteFrom }
}

it("a certificate must be for the endpoint's host name, whatever address the name has", async () => {
  const { service, quoteFrom } = await startTrusting()
  const forName = await startTls(FOR_NAME)
  const forAddress = await startTls(FOR_ADDRESS)
  const refused = { by: 'NO_QUOTES', asks: 0 }
  expect(await quoteFrom(`https://localhost:${forName}`)).toEqual(quoted)
  expect(await quoteFrom(`https://localhost:${forName}`), 'over the open connection').toEqual(quoted)
  expect(await quoteFrom(`https://127.0.0.1:${forAddress}`)).toEqual(quoted)
  expect(await quoteFrom(`https://127.0.0.1:${forName}`)).toEqual(refused)
  await service.waitFor(/does not match certificate's altnames/)
  expect(await quoteFrom(`https://localhost:${forAddress}`)).toEqual(refused)

  const names = Array.from(
    { length: 500 },
    (_, index) => ({ type: 2, value: `many-${index}.example` }) as const,
  )
  expect(await quoteFrom(`https://localhost:${await startTls(...names)}`)).toEqual(refused)
  const [line] = await service.waitFor(/\{[^\n]*many-0\.example[^\n]*\n/)
  expect(line.length, 'a certificate in a line of the log').toBeLessThan(1000)

  service.signal('SIGTERM')
  expect(await service.exited).toBe(0)
})

it.each([
  ['an end of TLS', (socket: Socket) => void socket.end()],
  ['an end of TCP', (socket: Socket) => void socket.destroy()],
])('a request is repeated when the solver closes its kept connection by %s', async (_what, close) => {
  const { service, quote, quoteFrom } = await startTrusting()
  expect(await quoteFrom(`https://localhost:${await startTls(FOR_NAME)}`)).toEqual(quoted)
  closings.push(close)
  expect(await quote()).toEqual(quoted)
  expect(closings).toEqual([])
  service.signal('SIGTERM')
  expect(await service.exited).toBe(0)
})
