import type { LookupAddress } from 'node:dns'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startTrap, type Trap } from '../../support/solvers/raw-solver.js'
import { register, startSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts
const PUBLIC = '8.8.8.8'
const PRODUCTION = { NODE_ENV: 'production' }

let trap: Trap

/** The answers of the resolver under attack: the addresses of each name. Each call is recorded. */
let names: Record<string, string[]>
let asked: string[]
/** Its answer to one query before that. */
let firstAddresses: LookupAddress[] | undefined
/** What the service has logged of solvers without an offer. */
let messages: string[]

const chain = await shared(startModelChain({ bonded: 1 }))
const solver = await shared(startSolver(chain, account))

beforeEach(async () => {
  trap = await startTrap()
  names = {}
  asked = []
  messages = []
})

afterEach(() => trap.close())

async function resolveAll(host: string): Promise<LookupAddress[]> {
  asked.push(host)
  const first = firstAddresses
  firstAddresses = undefined
  if (first !== undefined) return first
  if (names[host] === undefined) throw new Error(`getaddrinfo ENOTFOUND ${host}`)
  return names[host].map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

const start = (environment: Record<string, string>) =>
  startService(chain, environment, {
    resolveAll,
    log: pino(
      { level: 'info' },
      {
        write(line) {
          for (const { outcome } of JSON.parse(line).outcomes ?? []) messages.push(outcome.message ?? '')
        },
      },
    ),
  })

/** Registers an endpoint at a name that is public in the checked lookup, and at `addresses` from then on. */
async function registerPublic(service: TestService, endpointUrl: string, addresses: string[]) {
  firstAddresses = [{ address: PUBLIC, family: 4 }]
  names['solver.test'] = addresses
  await register(service, chain.chainId, account, { endpointUrl })
  asked.length = 0
}

const askForQuote = (service: TestService) => service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))

/** Requests a quote that the one solver must not give, for the reason in the log. */
async function expectNotDialled(service: TestService, reason: string) {
  const failed = () => service.metric('aggregator_solver_replies_total', { outcome: 'failed' })
  const before = await failed()
  messages.length = 0
  expect((await askForQuote(service)).body.code).toBe('NO_QUOTES')
  expect(messages.filter((message) => message !== '')).toEqual([expect.stringContaining(reason)])
  expect(await failed()).toBe(before + 1)
}

const BAD_ADDRESSES = [
  '127.0.0.1',
  '::1',
  '::ffff:127.0.0.1',
  '169.254.169.254',
  '100.100.100.200',
  'fd00:ec2::254',
]

describe('an endpoint whose name was public at its registration', () => {
  it.each(BAD_ADDRESSES)('is not dialled after it resolves to %s, in any quote', async (address) => {
    const service = await start(PRODUCTION)
    await registerPublic(service, `https://solver.test:${trap.port}`, [address])
    for (const addresses of [[address], [PUBLIC, address], [address, PUBLIC]]) {
      names['solver.test'] = addresses
      asked.length = 0
      await expectNotDialled(service, 'must be at a public IP address')
      expect(asked).toEqual(['solver.test'])
    }
    expect(trap.visits()).toBe(0)
    await service.close()
  })

  it('is dialled at the address of the one lookup, and nothing else looks it up', async () => {
    const service = await start({ ...PRODUCTION, SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.0/8' })
    const endpointUrl = solver.endpointUrl.replace('http://127.0.0.1', 'https://solver.test')
    await registerPublic(service, endpointUrl, ['127.0.0.1'])
    // The solver speaks no TLS: the handshake with it fails.
    await expectNotDialled(service, 'wrong version number')
    expect(asked).toEqual(['solver.test'])
    await service.close()
  })
})

describe('an endpoint that was stored outside of production', () => {
  it.each(['127.0.0.1', 'localhost'])('is not called in production: http://%s', async (host) => {
    const environment = { DB_PATH: temporaryFile() }
    names.localhost = ['127.0.0.1']
    const endpointUrl = solver.endpointUrl.replace('127.0.0.1', host)
    const before = await start(environment)
    await register(before, chain.chainId, account, { endpointUrl })
    expect((await askForQuote(before)).status).toBe(200)
    await before.close()

    const after = await start({ ...environment, ...PRODUCTION })
    solver.asks.length = 0
    await expectNotDialled(after, 'must be an https URL')
    expect(solver.asks).toEqual([])
    await after.close()

    const allowed = await start({ ...environment, ...PRODUCTION, SOLVER_ENDPOINT_ALLOWLIST: host })
    expect((await askForQuote(allowed)).status).toBe(200)
    await allowed.close()
  })
})

describe('proxies in the environment', () => {
  const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()])
  const before = variables.map((name) => [name, process.env[name]] as const)
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })

  it('are never used', async () => {
    for (const name of variables) process.env[name] = `http://127.0.0.1:${trap.port}`
    const service = await start({ ...PRODUCTION, SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1' })
    names['solver.test'] = ['127.0.0.1']
    const plain = solver.endpointUrl
    for (const endpointUrl of [plain.replace('127.0.0.1', 'solver.test'), plain]) {
      await register(service, chain.chainId, account, { endpointUrl })
      expect((await askForQuote(service)).status).toBe(200)
    }
    await register(service, chain.chainId, account, { endpointUrl: plain.replace('http', 'https') })
    await expectNotDialled(service, 'wrong version number')
    expect(trap.visits()).toBe(0)
    await service.close()
  })
})
