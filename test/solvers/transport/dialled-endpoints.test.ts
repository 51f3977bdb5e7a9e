import { once } from 'node:events'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createEndpointGuard } from '../../../src/solvers/transport/endpoint-guard.js'
import { createSolverHttpClient } from '../../../src/solvers/transport/solver-http-client.js'
import { shared } from '../../support/shared.js'
import { malformedSolver, ok } from '../../support/solvers/malformed-solvers.js'
import { startRawSolver, startTrap } from '../../support/solvers/raw-solver.js'
import { askAt, replyTo } from './ask.js'

const LOOPBACK = '127.0.0.1'
const PUBLIC = '8.8.8.8'
const QUOTED = { kind: 'replied' }
const REJECTED = { kind: 'failed', reason: 'endpoint_rejected' }

const trap = await shared(startTrap())
/** It answers whatever comes. */
const plain = malformedSolver('a reply', 'quoted', async ({ socket }) => {
  await once(socket, 'data')
  socket.end(ok('{}'))
})
const solver = await shared(startRawSolver(plain, replyTo))
/** The addresses of the name, and how often it was looked up. */
let addresses: string[]
let lookups: number

beforeEach(() => {
  addresses = [LOOPBACK]
  lookups = 0
})
afterEach(() => vi.unstubAllEnvs())

/** Asks at an endpoint whose name resolves as the test says. */
function ask(endpointUrl: string, { production = true, allowlist = [] as string[] } = {}) {
  const resolveAll = async () => {
    lookups++
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  const client = createSolverHttpClient(createEndpointGuard({ production, allowlist, resolveAll }), 2)
  onTestFinished(client.close)
  return askAt(client, endpointUrl)
}

test('a name with a private one among its addresses is not dialled', async () => {
  addresses = [PUBLIC, '::ffff:127.0.0.1']
  expect(await ask(`https://solver.test:${trap.port}`)).toMatchObject({
    ...REJECTED,
    message: expect.stringContaining('must be at a public IP address'),
  })
  expect([lookups, trap.visits()]).toEqual([1, 0])
})

test('a name is dialled at the address of the one lookup', async () => {
  const url = solver.endpointUrl.replace(`http://${LOOPBACK}`, 'https://solver.test')
  // The solver speaks no TLS.
  expect(await ask(url, { allowlist: ['127.0.0.0/8'] })).toMatchObject({
    kind: 'failed',
    reason: 'tls_failed',
  })
  expect(lookups).toBe(1)
})

test.each([LOOPBACK, 'localhost'])(
  'http://%s is dialled in production only when it is allowed',
  async (host) => {
    const url = solver.endpointUrl.replace(LOOPBACK, host)
    expect(await ask(url, { production: false })).toMatchObject(QUOTED)
    expect(await ask(url)).toMatchObject({
      ...REJECTED,
      message: expect.stringContaining('must be an https URL'),
    })
    expect(await ask(url, { allowlist: [host] })).toMatchObject(QUOTED)
  },
)

test('proxies in the environment are never used', async () => {
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'])
    vi.stubEnv(name, `http://127.0.0.1:${trap.port}`)
  const allowed = { allowlist: [LOOPBACK] }
  expect(await ask(solver.endpointUrl, allowed)).toMatchObject(QUOTED)
  expect(await ask(solver.endpointUrl.replace(LOOPBACK, 'solver.test'), allowed)).toMatchObject(QUOTED)
  expect(await ask(solver.endpointUrl.replace('http', 'https'), allowed)).toMatchObject({
    reason: 'tls_failed',
  })
  expect(trap.visits()).toBe(0)
})
