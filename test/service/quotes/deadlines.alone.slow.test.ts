import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

const [goodAccount, badAccount] = solverAccounts
const QUOTE_TIMEOUT_MS = 1500
/** What a busy machine of two cores may add. */
const SLACK_MS = 400

let chain: TestChain
let service: TestService
let good: TestSolver
let bad: TestSolver

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
  service = await startService(chain, { QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) })
  good = await startSolver(chain, goodAccount)
  bad = await startSolver(chain, badAccount)
  await good.register(service)
  await bad.register(service)
})

afterAll(async () => {
  await service?.close()
  await Promise.all([good?.close(), bad?.close()])
  await chain?.stop()
})

/** Good replies in between: a solver that has hung three times in a row delays no quote. */
afterEach(async () => {
  good.behave(honest())
  bad.behave(honest())
  await askForQuote()
})

const hang: Behaviour = async () => undefined
const hangInsideBody: Behaviour = async (_ask, _solver, { response }) => void response.write('{"quote":')

async function timed<T>(action: () => Promise<T>): Promise<{ answer: T; elapsedMs: number }> {
  const start = performance.now()
  const answer = await action()
  return { answer, elapsedMs: performance.now() - start }
}

const askForQuote = (init: RequestInit = {}) =>
  service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain), init)

it.each([
  ['before the headers', hang],
  ['inside the body', hangInsideBody],
])('a solver that hangs %s delays no caller past the timeout', async (_, behaviour) => {
  bad.behave(behaviour)
  const { answer, elapsedMs } = await timed(askForQuote)
  expect(answer.body.quote.solver).toBe(goodAccount.address)
  expect(elapsedMs).toBeGreaterThan(QUOTE_TIMEOUT_MS - 50)
  expect(elapsedMs).toBeLessThan(QUOTE_TIMEOUT_MS + SLACK_MS)
})

it('a quote ends at once when all solvers have answered, the slow one by a decline', async () => {
  bad.behave(async (_ask, _solver, { response }) => void response.writeHead(500).write('never ends'))
  const { answer, elapsedMs } = await timed(askForQuote)
  expect(answer.body.quote.solver).toBe(goodAccount.address)
  expect(elapsedMs).toBeLessThan(QUOTE_TIMEOUT_MS - 50)
})

it('a quote ends with NO_QUOTES at the timeout when all solvers hang', async () => {
  good.behave(hang)
  bad.behave(hang)
  const { answer, elapsedMs } = await timed(askForQuote)
  expect([answer.status, answer.body.code]).toEqual([503, 'NO_QUOTES'])
  expect(elapsedMs).toBeLessThan(QUOTE_TIMEOUT_MS + SLACK_MS)
})

it("a caller's shorter deadline is kept on REST, with the offers that came by then", async () => {
  bad.behave(hang)
  const { answer, elapsedMs } = await timed(() => askForQuote({ headers: { 'connect-timeout-ms': '200' } }))
  expect(answer.body.quote.solver).toBe(goodAccount.address)
  expect(elapsedMs).toBeGreaterThan(150)
  expect(elapsedMs).toBeLessThan(QUOTE_TIMEOUT_MS - 50)
})

it("a caller's shorter deadline is kept on gRPC, early enough for the response to arrive", async () => {
  bad.behave(hang)
  const grpc = createGrpcClient(service.url)
  const request = { ...quoteRequest(chain), chainId: chain.chainId, orderType: 1, depositMode: 1 }
  await grpc.call('SolverService', 'ListSolvers', { chainId: chain.chainId })
  const { answer, elapsedMs } = await timed(() =>
    grpc.call('QuoteService', 'GetQuote', request, { deadline: Date.now() + 800 }),
  )
  expect(answer.quote.solver).toBe(goodAccount.address)
  expect(elapsedMs).toBeLessThan(850)
  grpc.close()
})
