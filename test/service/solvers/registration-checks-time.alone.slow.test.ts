import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, type onTestFinished } from 'vitest'
import type { AppOverrides } from '../../../src/app/app.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { readMetrics } from '../../support/service/metrics.js'
import { startService, type TestService } from '../../support/service/service.js'
import { badSolvers } from '../../support/solvers/bad-solvers.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startRawSolver, startTrap } from '../../support/solvers/raw-solver.js'
import { signedRegistration, startSolver } from '../../support/solvers/solver.js'
import { hang } from '../../support/solvers/three-solvers.js'

const [account] = solverAccounts
const CHECK_MS = 1000
/** Timers and clocks round differently. */
const ROUNDING_MS = 20
const PRODUCTION = { NODE_ENV: 'production', SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1' }

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

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
})
afterAll(() => chain?.stop())

/** A service of one of the tests, which run at the same time. */
async function start(
  whenFinished: typeof onTestFinished,
  environment = {},
  overrides: AppOverrides = {},
): Promise<TestService> {
  const service = await startService(chain, environment, overrides)
  whenFinished(() => service.close())
  return service
}

/** A service, and a solver that does not answer its checks. */
async function startWithHangingSolver(whenFinished: typeof onTestFinished) {
  const service = await start(whenFinished)
  const solver = await startSolver(chain, account)
  whenFinished(() => solver.close())
  solver.behaveInChecks(hang)
  return { service, solver }
}

async function registerAt(endpointUrl: string, service: TestService) {
  const begin = performance.now()
  const body = await signedRegistration(account, { endpointUrl })
  const answer = await service.post(`/v1/${chain.chainId}/solvers/register`, body)
  expect([answer.status, answer.body.status]).toEqual([200, 'registered'])
  return { ...answer.body.check, tookMs: performance.now() - begin }
}

it('the list of malformed solvers has all that are tried here', () => expect(bad).toHaveLength(BAD.length))

describe.concurrent('a registration', () => {
  it('has the result LATE when no reply comes within a second', async ({ onTestFinished }) => {
    const { service, solver } = await startWithHangingSolver(onTestFinished)
    const { outcome, explanation, tookMs } = await registerAt(solver.endpointUrl, service)
    expect([outcome, explanation]).toEqual(['LATE', expect.stringContaining('within 1000 ms')])
    expect(tookMs).toBeGreaterThan(CHECK_MS - ROUNDING_MS)
  })

  it.for(bad)(
    'of a malformed solver takes about a second: $name, $outcome',
    async (malformedSolver, { onTestFinished }) => {
      const service = await start(onTestFinished)
      const raw = await startRawSolver(chain, account, malformedSolver)
      onTestFinished(() => raw.close())
      raw.serve()
      const { outcome, tookMs } = await registerAt(raw.endpointUrl, service)
      expect(outcome.toLowerCase()).toBe(malformedSolver.outcome.split(' ')[0])
      expect(tookMs).toBeLessThan(2 * CHECK_MS)
      await raw.abandoned()
    },
  )

  it('changes neither the metrics of quotes nor the health of the solver', async ({ onTestFinished }) => {
    const { service, solver } = await startWithHangingSolver(onTestFinished)
    for (let time = 0; time < 4; time++) await registerAt(solver.endpointUrl, service)
    const { all } = await readMetrics(service.url)
    const ofQuotes = /^aggregator_(solver_replies_total|quotes_total|solver_seconds_count)$/
    expect(all.filter(({ name, value }) => ofQuotes.test(name) && value > 0)).toEqual([])
    const { body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    expect(body.quote?.solver).toBe(account.address)
    const labels = { solver: account.address.toLowerCase() }
    expect(await service.metric('aggregator_solver_circuit_open', labels)).toBe(0)
  })

  it('shares the check of the same endpoint that is under way', async ({ onTestFinished }) => {
    const { service, solver } = await startWithHangingSolver(onTestFinished)
    const first = registerAt(solver.endpointUrl, service)
    await eventually(
      async () => solver.checks.length,
      (count) => count === 1,
    )
    const second = await registerAt(solver.endpointUrl, service)
    expect([second.outcome, (await first).outcome]).toEqual(['LATE', 'LATE'])
    expect(solver.checks).toHaveLength(1)
  })
})

describe.concurrent('in production, every unreachable endpoint gets the same answer', () => {
  it('for a closed port, a closed connection and another protocol', async ({ onTestFinished }) => {
    const strict = await start(onTestFinished, PRODUCTION)
    const closed = await startTrap()
    await closed.close()
    const hangingUp = await startTrap()
    onTestFinished(() => hangingUp.close())
    const talking = createServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n'))
    onTestFinished(() => void talking.close())
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
  })

  it('also for a name that resolves to another address after the check, which is not called', async ({
    onTestFinished,
  }) => {
    const trap = await startTrap()
    onTestFinished(() => trap.close())
    const answers = ['8.8.8.8', '127.0.0.1']
    const asked: string[] = []
    const environment = { NODE_ENV: 'production' }
    const strict = await start(onTestFinished, environment, {
      async resolveAll(host) {
        asked.push(host)
        return [{ address: answers.shift() ?? '127.0.0.1', family: 4 }]
      },
    })
    const { outcome } = await registerAt(`https://solver.test:${trap.port}`, strict)
    expect([outcome, asked, trap.visits()]).toEqual(['FAILED', ['solver.test', 'solver.test'], 0])
  })
})
