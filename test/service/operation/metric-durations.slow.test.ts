import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startSolver, type TestSolver } from '../../support/solvers/solver.js'

const SOLVER_MS = 300
const NODE_MS = 60
const STAGES = 'aggregator_quote_stage_duration_seconds'
const ANSWERS = 'aggregator_solver_response_duration_seconds'
const REQUESTS = 'aggregator_request_duration_seconds'
const RPC = 'aggregator_rpc_request_duration_seconds'

let chain: TestChain
let rpc: RpcProxy
let service: TestService
let solver: TestSolver

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  const environment = { [`RPC_URL_${chain.chainId}`]: rpc.url, [`POLL_INTERVAL_MS_${chain.chainId}`]: '20' }
  service = await startService(chain, environment)
  solver = await startSolver(chain, solverAccounts[0])
  await solver.register(service)
})
afterAll(async () => {
  await service?.close()
  await solver?.close()
  rpc?.close()
  await chain?.stop()
})

/** The increase of a histogram while `run` ran, in seconds, and the duration of `run`. */
async function gained(histogram: string, labels: Record<string, string>, run: () => Promise<unknown>) {
  const read = async () => ({
    sum: await service.metric(`${histogram}_sum`, labels),
    count: await service.metric(`${histogram}_count`, labels),
  })
  const before = await read()
  const start = performance.now()
  await run()
  const seconds = (performance.now() - start) / 1000
  const after = await read()
  return { sum: after.sum - before.sum, count: after.count - before.count, seconds }
}

/** Two quotes, one after the other, each with the solver's delay. */
async function quoteTwice(): Promise<void> {
  solver.behave(async (asked, { sign, quoteFor }) => {
    await pause(SOLVER_MS)
    return sign(quoteFor(asked))
  })
  for (let quote = 0; quote < 2; quote++)
    expect((await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).status).toBe(200)
}

const OF_SOLVER = (2 * (SOLVER_MS - 1)) / 1000

it.each([
  ['a request', REQUESTS, { method: 'aggregator.v1.QuoteService/GetQuote' }],
  ['the stage of the solvers', STAGES, { stage: 'solvers' }],
  ["a solver's reply", ANSWERS, {}],
])(
  "the time of %s is at least the solver's delay, and at most the caller's time",
  async (_what, histogram, labels) => {
    const { sum, count, seconds } = await gained(histogram, labels, quoteTwice)
    expect(count).toBe(2)
    expect(sum).toBeGreaterThanOrEqual(OF_SOLVER)
    expect(sum).toBeLessThanOrEqual(seconds)
  },
)

it("the time of a JSON-RPC call is the node's delay", async () => {
  rpc.intercept(async (_call, pass) => {
    await pause(NODE_MS)
    return pass()
  })
  const { count, sum, seconds } = await gained(RPC, { chain_id: String(chain.chainId) }, async () => {
    const seen = rpc.requests().flat().length
    await expect.poll(() => rpc.requests().flat().length).toBeGreaterThan(seen + 10)
  })
  rpc.intercept()
  expect(count).toBeGreaterThanOrEqual(5)
  // A call that was open when the node became slow may have taken less.
  expect(sum).toBeGreaterThanOrEqual(((count - 2) * (NODE_MS - 1)) / 1000)
  expect(sum / count).toBeLessThanOrEqual(seconds)
})
