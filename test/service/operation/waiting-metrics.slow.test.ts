import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { deferred } from '../../support/deferred.js'
import { readMetrics } from '../../support/service/metrics.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'
import { quoteTransports } from '../../support/streams/quote-stream-clients.js'

const QUOTE_TIMEOUT_MS = 1500
const hang: Behaviour = async () => undefined
const decline: Behaviour = async (_ask, _solver, { response }) => void response.writeHead(422).end()

let chain: TestChain
let service: TestService
let solvers: TestSolver[]

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
  solvers = await Promise.all(solverAccounts.slice(0, 3).map((account) => startSolver(chain, account)))
})
afterAll(async () => {
  await Promise.all((solvers ?? []).map((solver) => solver.close()))
  await chain?.stop()
})
beforeEach(async () => {
  service = await startService(chain, { QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) })
  for (const solver of solvers) await solver.register(service)
  return () => service.close()
})

function behave(...behaviours: Behaviour[]): void {
  behaviours.forEach((behaviour, index) => {
    solvers[index]?.behave(behaviour)
  })
}

/** Answers when the gate opens. */
const waitingFor =
  (gate: Promise<void>, behaviour: Behaviour): Behaviour =>
  async (...ask) => {
    await gate
    return behaviour(...ask)
  }

/** Answers, and opens a gate for others when its reply has left. */
const opening =
  (gate: { open(): void }, behaviour: Behaviour): Behaviour =>
  (ask, solver, exchange) => {
    exchange.response.once('finish', gate.open)
    return behaviour(ask, solver, exchange)
  }

const ask = async (changes: object = {}) => {
  const { status } = await service.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...changes })
  expect(status).toBe(200)
}

/** For each solver, the number of quotes that waited for it last. */
async function waitedFor(): Promise<number[]> {
  const metrics = await readMetrics(service.url)
  return solvers.map(({ account }) =>
    metrics.sum('aggregator_solver_waited_for_last_total', { solver: account.address.toLowerCase() }),
  )
}

async function idleSeconds(): Promise<number> {
  return (await readMetrics(service.url)).sum('aggregator_quote_idle_duration_seconds_sum', {})
}

describe('aggregator_solver_waited_for_last_total', () => {
  it('counts the solver whose response came last, with or without an offer', async () => {
    const [first, second] = [deferred(), deferred()]
    const best = honest({ output: '2000' })
    behave(opening(first, honest()), waitingFor(first.opened, best), waitingFor(second.opened, decline))
    const [{ open }] = quoteTransports as [(typeof quoteTransports)[number]]
    for await (const message of open(service.url, chain.chainId, quoteRequest(chain)))
      if (message.type === 'quote' && message.quote.outputAmount === '2000') second.open()
    expect(await waitedFor()).toEqual([0, 0, 1])
  })

  it('counts each solver that has not answered at the end', async () => {
    behave(honest(), hang, hang)
    await ask()
    expect(await waitedFor()).toEqual([0, 1, 1])
  })
})

describe('aggregator_quote_idle_duration_seconds', () => {
  it('is the time from the best offer to the end of the round', async () => {
    behave(honest({ output: '2000' }), honest({ output: '1000' }), hang)
    const start = performance.now()
    await ask()
    const tookSeconds = (performance.now() - start) / 1000
    const seconds = await idleSeconds()
    // The best offer comes at once, and the round waits for the third solver until the timeout.
    expect(seconds).toBeGreaterThan(QUOTE_TIMEOUT_MS / 2000)
    expect(seconds).toBeLessThan(tookSeconds)
  })
})
