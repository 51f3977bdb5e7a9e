import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from './chain.js'
import { startServiceProcess } from './process.js'
import { quoteRequest } from './quote-request.js'
import { environmentFor, startService } from './service.js'
import { register, startSolver, type TestSolver } from './test-solver.js'

const [account] = solverAccounts
const run = promisify(execFile)

let chain: TestChain
let folder: string
let solver: TestSolver
const servers: Server[] = []

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  solver = await startSolver(chain, account)
  folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-tls-'))
  await run('openssl', [
    ...newKey('ca'),
    '-x509',
    '-days',
    '1',
    '-subj',
    '/CN=Test CA',
    '-out',
    file('ca.pem'),
  ])
})

afterAll(async () => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
  await solver?.close()
  await chain?.stop()
  await rm(folder, { recursive: true, force: true })
})

const file = (name: string) => join(folder, name)
const newKey = (name: string) => [
  'req',
  '-newkey',
  'ec',
  '-pkeyopt',
  'ec_paramgen_curve:P-256',
  '-nodes',
  '-keyout',
  file(`${name}.key`),
]

/** Puts TLS in front of the solver, with a certificate for `subject` by the test's CA. @returns its port */
async function startTls(name: string, subject: string): Promise<number> {
  await run('openssl', [...newKey(name), '-subj', '/CN=A solver', '-out', file(`${name}.csr`)])
  await writeFile(file(`${name}.ext`), `subjectAltName=${subject}\n`)
  const ca = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '1']
  const from = ['-in', file(`${name}.csr`), '-extfile', file(`${name}.ext`), '-out', file(`${name}.pem`)]
  await run('openssl', ['x509', '-req', ...ca, ...from])
  const [key, cert] = await Promise.all([readFile(file(`${name}.key`)), readFile(file(`${name}.pem`))])
  const server = createServer({ key, cert }, (request, response) => {
    const { method, headers } = request
    const forwarded = httpRequest(`${solver.endpointUrl}/quote`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forwarded)
  })
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

it('a certificate by an unknown authority is refused, outside of production too', async () => {
  const port = await startTls('unknown', 'DNS:localhost')
  const service = await startService(chain)
  await register(service, chain.chainId, account, { endpointUrl: `https://localhost:${port}` })
  const { body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  expect(body.code).toBe('NO_QUOTES')
  expect(await service.metric('aggregator_solver_replies_total', { outcome: 'failed' })).toBe(1)
  expect(solver.asks).toEqual([])
  await service.close()
})

it('a certificate must be for the host name of the endpoint, whatever address that has', async () => {
  const service = startServiceProcess({
    ...environmentFor(chain),
    NODE_ENV: 'production',
    SOLVER_ENDPOINT_ALLOWLIST: 'localhost,127.0.0.1',
    NODE_EXTRA_CA_CERTS: file('ca.pem'),
  })
  const [, url] = await service.waitFor(/"url":"([^"]+)"/)
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) }
  }
  const quoteFrom = async (endpointUrl: string) => {
    await register({ post }, chain.chainId, account, { endpointUrl })
    solver.asks.length = 0
    const { body } = await post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    return { by: body.quote?.solver ?? body.code, asks: solver.asks.length }
  }

  const forName = await startTls('name', 'DNS:localhost')
  const forAddress = await startTls('address', 'IP:127.0.0.1')
  const quoted = { by: account.address, asks: 1 }
  const refused = { by: 'NO_QUOTES', asks: 0 }
  expect(await quoteFrom(`https://localhost:${forName}`)).toEqual(quoted)
  expect(await quoteFrom(`https://localhost:${forName}`), 'over the open connection').toEqual(quoted)
  expect(await quoteFrom(`https://127.0.0.1:${forAddress}`)).toEqual(quoted)
  expect(await quoteFrom(`https://127.0.0.1:${forName}`)).toEqual(refused)
  expect(service.output()).toContain("does not match certificate's altnames")
  expect(await quoteFrom(`https://localhost:${forAddress}`)).toEqual(refused)

  service.signal('SIGTERM')
  expect(await service.exited).toBe(0)
})
