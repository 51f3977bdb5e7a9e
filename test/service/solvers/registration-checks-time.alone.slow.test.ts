import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, type onTestFinished } from 'vitest'
import type { AppOverrides } from '../../../src/app/app.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { readMetrics } from '../../support/service/metrics.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startTrap } from '../../support/solvers/raw-solver.js'
import { signedRegistration, startSolver } from '../../support/solvers/solver.js'
import { hang } from '../../support/solvers/three-solvers.js'

const [account] = solverAccounts
const CHECK_MS = 1000
/** Timers and clocks round differently. */
const ROUNDING_MS = 20
const PRODUCTION = { NODE_ENV: 'production', SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1' }

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

describe.concurrent('a registration', () => {
  it('has the result LATE when no reply comes within a second', async ({ onTestFinished }) => {
    const { service, solver } = await startWithHangingSolver(onTestFinished)
    const { outcome, explanation, tookMs } = await registerAt(solver.endpointUrl, service)
    expect([outcome, explanation]).toEqual(['LATE', expect.stringContaining('within 1000 ms')])
    expect(tookMs).toBeGreaterThan(CHECK_MS - ROUNDING_MS)
  })

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
