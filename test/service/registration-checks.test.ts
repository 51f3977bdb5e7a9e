import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../support/chain/chain.js'
import { startRpcProxy } from '../support/faults/rpc-proxy.js'
import { readMetrics } from '../support/service/metrics.js'
import { startService, type TestService } from '../support/service/service.js'
import { badSolvers } from '../support/solvers/bad-solvers.js'
import { quoteRequest } from '../support/solvers/quote-request.js'
import { startRawSolver, startTrap } from '../support/solvers/raw-solver.js'
import {
  type Behaviour,
  honest,
  signedRegistration,
  startSolver,
  type TestSolver,
} from '../support/solvers/solver.js'
import { answerStatus, hang } from '../support/solvers/three-solvers.js'

const [account, otherAccount] = solverAccounts
const CHECK_MS = 1000
/** Timers and clocks round differently. */
const ROUNDING_MS = 20
const NO_USER = '0x000000000000000000000000000000000000dEaD'
const PRODUCTION = { NODE_ENV: 'production', SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1' }

let chain: TestChain
let service: TestService
let solver: TestSolver
let other: TestSolver

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  service = await startService(chain)
  solver = await startSolver(chain, account)
  other = await startSolver(chain, otherAccount)
})
afterEach(async () => {
  await service.close()
  await Promise.all([solver.close(), other.close()])
})

async function registerAt(endpointUrl: string, to = service, signer = account) {
  const start = performance.now()
  const body = await signedRegistration(signer, { endpointUrl })
  const answer = await to.post(`/v1/${chain.chainId}/solvers/register`, body)
  expect([answer.status, answer.body.status]).toEqual([200, 'registered'])
  return { ...answer.body.check, tookMs: performance.now() - start }
}

async function checkOf(behaviour: Behaviour) {
  solver.behaveInChecks(behaviour)
  return registerAt(solver.endpointUrl)
}

const askForQuote = (to = service) => to.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))

/** Signs with the account's key over values other than it sends, as a wrong domain or struct does. */
const wronglySigned: Behaviour = async (ask, { quoteFor, sign }) => {
  const quote = quoteFor(ask)
  const { signature } = await sign({ ...quote, nonce: '99' })
  return { quote, signature }
}

const BAD = [
  'closes the connection before it reads',
  'never reads',
  'drips its body',
  'hangs after half the body',
  'redirects by 307 Temporary',
  '17 KiB of headers',
  'a 101 to another protocol',
  'two answers in one',
]
const bad = badSolvers.filter(({ name }) => BAD.includes(name))

describe('a registration returns the result of one request to the endpoint', () => {
  it('for a valid reply', async () => {
    expect(await checkOf(honest())).toMatchObject({
      outcome: 'QUOTED',
      explanation: 'A valid reply: its form is right, and the solver has signed it.',
    })
  })

  it('for a wrong signature, explained as in the record of a quote', async () => {
    const { outcome, explanation } = await checkOf(wronglySigned)
    solver.behave(wronglySigned)
    const { body } = await askForQuote()
    const record = await service.get(`/v1/${chain.chainId}/quote/${body.quoteId}`)
    expect([outcome, explanation]).toEqual(['INVALID', record.body.solvers[0].explanation])
    expect(explanation).toContain('check the key, the EIP-712 domain')
    expect(explanation).toContain(
      `The primary type is ServiceQuote. The domain is {"name":"${chain.domain.name}","version":"1","chainId":${chain.chainId},"verifyingContract":"${chain.contracts.settlement}"}.`,
    )
  })

  it('for a dead endpoint, which is still registered', async () => {
    const trap = await startTrap()
    await trap.close()
    const { outcome, explanation } = await registerAt(`http://127.0.0.1:${trap.port}`)
    expect([outcome, explanation]).toEqual(['FAILED', "Nothing listens at the solver's endpoint."])
    const { body } = await service.get(`/v1/${chain.chainId}/solvers`)
    expect(body).toMatchObject([{ address: account.address }])
  })

  it('for another status than 200', async () => {
    const { outcome, explanation } = await checkOf(answerStatus(404))
    expect([outcome, explanation]).toEqual([
      'DECLINED',
      expect.stringMatching(/^The solver answered with status 404; only 200 carries an offer\. No pair has/),
    ])
  })

  it('for a redirect, with advice to register the final URL', async () => {
    const { outcome, explanation } = await checkOf(answerStatus(302))
    expect([outcome, explanation]).toEqual([
      'DECLINED',
      'The solver answered with status 302. Redirects are not followed: register the URL that answers itself.',
    ])
  })

  it('for an error of the solver, with advice on how to decline', async () => {
    const { outcome, explanation } = await checkOf(answerStatus(500))
    expect([outcome, explanation]).toEqual([
      'DECLINED',
      'The solver answered with status 500; only 200 carries an offer. It is an error of the solver: decline with status 422 or 503.',
    ])
  })

  it('when no reply comes within a second', async () => {
    const { outcome, explanation, tookMs } = await checkOf(hang)
    expect([outcome, explanation]).toEqual(['LATE', expect.stringContaining('within 1000 ms')])
    expect(tookMs).toBeGreaterThan(CHECK_MS - ROUNDING_MS)
  })

  it('for every malformed solver that the list names', () => expect(bad).toHaveLength(BAD.length))

  it.each(bad)('for a malformed solver within about a second: $name, $outcome', async (malformedSolver) => {
    const raw = await startRawSolver(chain, account, malformedSolver)
    raw.serve()
    const { outcome, tookMs } = await registerAt(raw.endpointUrl)
    expect(outcome.toLowerCase()).toBe(malformedSolver.outcome.split(' ')[0])
    expect(tookMs).toBeLessThan(2 * CHECK_MS)
    await raw.abandoned()
    await raw.close()
  })
})

describe('the request', () => {
  it('is for tokens that do not exist until a pair is quoted, then for the pair quoted last', async () => {
    await registerAt(solver.endpointUrl)
    const request = { ...quoteRequest(chain), amount: '1234567' }
    await other.register(service)
    expect((await service.post(`/v1/${chain.chainId}/quote`, request)).status).toBe(200)
    const asked = other.asks.at(-1)
    await registerAt(solver.endpointUrl)

    const [first, second] = solver.checks.map(({ ask }) => ask)
    expect(first?.inputToken).toBe('0x0000000000000000000000000000000000000001')
    expect(second).toEqual({
      ...asked,
      amount: '1000000',
      userAddress: NO_USER,
      depositDeadline: expect.any(Number),
      fillDeadline: expect.any(Number),
    })
    const { headers } = solver.checks[1] ?? {}
    expect([headers?.['x-quote-kind'], headers?.['x-quote-id']]).toEqual(['indicative', undefined])
  })

  it('changes neither the metrics of quotes nor the health of the solver', async () => {
    for (let time = 0; time < 4; time++) await checkOf(hang)
    const { all } = await readMetrics(service.url)
    const ofQuotes = /^aggregator_(solver_replies_total|quotes_total|solver_seconds_count)$/
    expect(all.filter(({ name, value }) => ofQuotes.test(name) && value > 0)).toEqual([])
    const { body } = await askForQuote()
    expect(body.quote?.solver).toBe(account.address)
    const labels = { solver: account.address.toLowerCase() }
    expect(await service.metric('aggregator_solver_circuit_open', labels)).toBe(0)
    expect(await service.metric('aggregator_solver_valid_ratio', labels)).toBe(1)
  })
})

describe('in production, every unreachable endpoint gets the same answer', () => {
  it('for a closed port, a closed connection and another protocol', async () => {
    const strict = await startService(chain, PRODUCTION)
    const closed = await startTrap()
    await closed.close()
    const hangingUp = await startTrap()
    const talking = createServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n'))
    talking.listen(0, '127.0.0.1')
    await once(talking, 'listening')
    const ports = [closed.port, hangingUp.port, (talking.address() as AddressInfo).port]
    const answers = []
    for (const port of ports) answers.push(await registerAt(`https://127.0.0.1:${port}`, strict))

    const [first] = answers
    expect(first).toMatchObject({
      outcome: 'FAILED',
      explanation: expect.stringMatching(/^No valid HTTP answer came/),
    })
    for (const { outcome, explanation, tookMs } of answers) {
      expect([outcome, explanation]).toEqual([first?.outcome, first?.explanation])
      expect(tookMs).toBeGreaterThan(CHECK_MS - ROUNDING_MS)
    }
    await strict.close()
    await hangingUp.close()
    talking.close()
  })

  it('also for a name that resolves to another address after the check, which is not called', async () => {
    const trap = await startTrap()
    const answers = ['8.8.8.8', '127.0.0.1']
    const asked: string[] = []
    const strict = await startService(
      chain,
      { NODE_ENV: 'production' },
      {
        async resolveAll(host) {
          asked.push(host)
          return [{ address: answers.shift() ?? '127.0.0.1', family: 4 }]
        },
      },
    )
    const { outcome } = await registerAt(`https://solver.test:${trap.port}`, strict)
    expect([outcome, asked, trap.visits()]).toEqual(['FAILED', ['solver.test', 'solver.test'], 0])
    await strict.close()
    await trap.close()
  })
})

describe('a chain that has not been read yet', () => {
  it('is the reason in the answer, and not an error in the log', async () => {
    const rpc = await startRpcProxy(chain.devnet.rpcUrl)
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    // The bond can be read; the code of the contract cannot.
    rpc.intercept(async ({ method }, pass) =>
      method === 'eth_getCode' ? { error: { code: -32000, message: 'not yet' } } : pass(),
    )
    const early = await startService(chain, { [`RPC_URL_${chain.chainId}`]: rpc.url }, { log })
    const { outcome, explanation } = await registerAt(solver.endpointUrl, early)
    expect([outcome, explanation]).toEqual([
      'SKIPPED',
      `The endpoint was not checked: chain ${chain.chainId} has not been read yet. Register again in 5 s to have it checked.`,
    ])
    expect(lines.filter((line) => line.includes('"level":50'))).toEqual([
      expect.stringContaining('the chain does not answer'),
    ])
    await early.close()
    rpc.close()
  })
})

describe('checks are limited', () => {
  it('to one at a time of a solver', async () => {
    solver.behaveInChecks(hang)
    const first = registerAt(solver.endpointUrl)
    await expect.poll(() => solver.checks.length).toBe(1)
    const second = await registerAt(solver.endpointUrl)
    expect([second.outcome, (await first).outcome]).toEqual(['SKIPPED', 'LATE'])
    expect(second.explanation).toMatch(/^The endpoint was not checked: another check of it is under way\./)
    expect(solver.checks).toHaveLength(1)
  })

  it('to five in a minute of a solver from all addresses, while others are checked', async () => {
    const checks = []
    for (let time = 0; time < 7; time++) checks.push(await registerAt(solver.endpointUrl))
    const outcomes = checks.map(({ outcome }) => outcome)
    expect(outcomes).toEqual([...Array(5).fill('DECLINED'), 'SKIPPED', 'SKIPPED'])
    expect(checks.at(-1).explanation).toMatch(
      /: it has been checked 5 times within a minute\. Register again in \d+ s/,
    )
    expect(solver.checks).toHaveLength(5)
    expect((await registerAt(other.endpointUrl, service, otherAccount)).outcome).toBe('DECLINED')
  })
})
