import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startTrap, type Trap } from '../../support/solvers/raw-solver.js'
import { signedRegistration, signedUnregistration } from '../../support/solvers/solver.js'

const [account] = solverAccounts

let chain: TestChain
let service: TestService
let traps: Trap[]
let port: number
const asked: string[] = []

/**
 * `localhost` resolves as usual, and every other name is public: nothing is rejected because it has no
 * address.
 */
async function resolveAll(host: string) {
  asked.push(host)
  const addresses = /(^|\.)localhost\.?$/.test(host) ? ['127.0.0.1', '::1'] : ['8.8.8.8']
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  service = await startService(chain, { NODE_ENV: 'production', QUOTE_TIMEOUT_MS: '300' }, { resolveAll })
  const trap = await startTrap()
  port = trap.port
  // Where the machine has no IPv6, nothing can be reached there.
  const trapV6 = await startTrap('::1', port).catch(() => undefined)
  traps = trapV6 === undefined ? [trap] : [trap, trapV6]
})

afterAll(async () => {
  await service?.close()
  await Promise.all((traps ?? []).map((trap) => trap.close()))
  await chain?.stop()
})

const tryRegistering = async (endpointUrl: string) =>
  service.post(`/v1/${chain.chainId}/solvers/register`, await signedRegistration(account, { endpointUrl }))

/** No solver is registered, asked or reached. */
async function expectNothingReached() {
  expect((await service.get(`/v1/${chain.chainId}/solvers`)).body).toEqual([])
  expect((await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).body.code).toBe('NO_QUOTES')
  expect(traps.map((trap) => trap.visits())).toEqual(traps.map(() => 0))
}

const withPort = (url: string) => url.replace('PORT', String(port))

describe('a registration is rejected for a host that is this machine:', () => {
  it.each([
    'https://127.0.0.1:PORT',
    'https://0.0.0.0:PORT',
    'https://127.255.255.254:PORT',
    'https://[::1]:PORT',
    'https://[::]:PORT',
    'https://[::ffff:7f00:1]:PORT',
    'https://[64:ff9b::7f00:1]:PORT',
    'https://[::7f00:1]:PORT',
    'https://[2002:7f00:1::]:PORT',
    'https://localhost:PORT',
    'https://localhost.:PORT',
    'https://solver.localhost:PORT',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00:ec2::254]/latest',
  ])('%s', async (url) => {
    const { status, body } = await tryRegistering(withPort(url))
    expect([status, body.code]).toEqual([400, 'ENDPOINT_REJECTED'])
    await expectNothingReached()
  })
})

describe('a registration is rejected with the normalised form of its URL:', () => {
  it.each([
    'https://127.0.0.1.:PORT',
    'https://127.1:PORT',
    'https://2130706433:PORT',
    'https://0x7f000001:PORT',
    'https://0x7f.0x0.0x0.0x1:PORT',
    'https://0177.0.0.01:PORT',
    'https://017700000001:PORT',
    'https://0:PORT',
    'https://%31%32%37.0.0.1:PORT',
    'https://１２７.0.0.1:PORT',
    'https://127。0。0。1:PORT',
    'https://①②⑦．⓪．0｡1:PORT',
    'https://[0:0:0:0:0:0:0:1]:PORT',
    'https://[::ffff:127.0.0.1]:PORT',
    'https://[::127.0.0.1]:PORT',
    'https://LOCALHOST:PORT',
    'https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT',
    'https:\\\\127.0.0.1:PORT\\',
    'https:127.0.0.1:PORT',
    'https:///127.0.0.1:PORT',
    'https://solver.test\\@127.0.0.1',
    'https://SOLVER。test',
    'https://@solver.test',
    'https://solver.test:443',
    'HTTPS://solver.test',
  ])('%s', async (url) => {
    const { status, body } = await tryRegistering(withPort(url))
    const [{ field, message }] = body.details
    expect([status, body.code, field]).toEqual([400, 'INVALID_ARGUMENT', 'endpointUrl'])
    const [, normal = ''] = /^must be written in its normalised form: (.+)$/.exec(message) ?? []
    expect(new URL(normal).href).toBe(new URL(withPort(url)).href)
    await expectNothingReached()
  })
})

describe('a registration is rejected for a port of other services:', () => {
  it.each(['https://solver.test:22', 'https://solver.test:1023/api', 'https://8.8.8.8:25'])(
    '%s',
    async (url) => {
      const { status, body } = await tryRegistering(url)
      expect([status, body.code]).toEqual([400, 'ENDPOINT_REJECTED'])
      expect(body.error).toBe('The endpoint must be at port 443, or at a port of 1024 to 65535.')
      await expectNothingReached()
    },
  )
})

describe('a registration is rejected for plain http:', () => {
  it.each(['http://solver.test', 'http://8.8.8.8', 'http://127.0.0.1:PORT', 'http://[::1]:PORT'])(
    '%s',
    async (url) => {
      const { status, body } = await tryRegistering(withPort(url))
      expect([status, body.code]).toEqual([400, 'ENDPOINT_REJECTED'])
      await expectNothingReached()
    },
  )
})

describe('a registration is rejected for an invalid http URL, and for one with more than host, port and path:', () => {
  it.each([
    '',
    'solver.test',
    '//127.0.0.1:PORT',
    'ftp://127.0.0.1:PORT',
    'file:///etc/passwd',
    'gopher://127.0.0.1:PORT/_x',
    'ws://127.0.0.1:PORT',
    'unix:/run/docker.sock',
    'data:application/json,{}',
    'javascript:1',
    'https://',
    'https://user@127.0.0.1:PORT',
    'https://user:secret@solver.test',
    'https://solver.test@127.0.0.1:PORT',
    'https://127.0.0.1%2f@solver.test',
    'https://solver.test?x',
    'https://solver.test?',
    'https://solver.test#@127.0.0.1:PORT',
    'https://solver.test:0',
    'https://solver.test:99999',
    'https://solver.test:-1',
    'https://256.0.0.1',
    'https://127.0.0.1.1',
    'https://0x7f.1.1.1.1',
    'https://[::1',
    'https://[fe80::1%25eth0]',
    'https://[::ffff:127.0.0.1.1]',
    'https://127.0.0.1%00.solver.test',
    'https://sol ver.test',
    ' https://solver.test',
    'https://solver.test\n',
    'https://solver\t.test',
    'https://solver.test/\r\nx: y',
    'https://local\u00adhost',
    'https://solver\u200b.test',
    `https://solver.test/${'x'.repeat(2048)}`,
  ])('%j', async (url) => {
    const { status, body } = await tryRegistering(withPort(url))
    expect([status, body.code, body.details?.[0].field]).toEqual([400, 'INVALID_ARGUMENT', 'endpointUrl'])
    await expectNothingReached()
  })
})

describe('a registration with a public name is accepted, and exactly that name is looked up:', () => {
  it.each([
    'https://solver.test',
    'https://solver.test/',
    'https://solver.test:1024',
    'https://solver.test:65535/a/b',
    'https://solver.test/@127.0.0.1',
    'https://solver.test/%0d%0ax:%20y',
  ])('%s', async (url) => {
    asked.length = 0
    expect((await tryRegistering(url)).status).toBe(200)
    // For the registration, and for the connection of its check.
    expect([...new Set(asked)]).toEqual(['solver.test'])
    const path = `/v1/${chain.chainId}/solvers/${account.address}`
    expect((await service.delete(path, await signedUnregistration(account))).status).toBe(200)
  })
})
