import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../support/chain/chain.js'
import { rounds } from '../support/rounds.js'
import { startService, type TestService } from '../support/service/service.js'
import { badReplies } from '../support/solvers/bad-replies.js'
import { badSolvers } from '../support/solvers/bad-solvers.js'
import type { MalformedSolver } from '../support/solvers/malformed-solvers.js'
import { FLOOD_BYTES, oversizedReplies } from '../support/solvers/oversized-replies.js'
import { quoteRequest } from '../support/solvers/quote-request.js'
import { startRawSolver, startTrap, type Trap } from '../support/solvers/raw-solver.js'
import { honest, register, startSolver, type TestSolver } from '../support/solvers/solver.js'

const [goodAccount, badAccount] = solverAccounts
const QUOTE_TIMEOUT_MS = 800
/** What a busy machine of two cores may add. */
const SLACK_MS = 400
/** What the buffers of two sockets may hold between a solver and the service. */
const BUFFERED_BYTES = 16_000_000
const MOST_MEMORY_BYTES = 100_000_000

let chain: TestChain
let service: TestService
let good: TestSolver
let trap: Trap

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
  good = await startSolver(chain, goodAccount, honest({ output: '1000' }))
  await restartService()
  trap = await startTrap()
})

afterAll(async () => {
  await service?.close()
  await Promise.all([good?.close(), trap?.close()])
  await chain?.stop()
})

async function restartService(): Promise<void> {
  await service?.close()
  service = await startService(chain, { QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) })
  await good.register(service)
}

async function startAndRegister(malformedSolver: MalformedSolver) {
  const bad = await startRawSolver(chain, badAccount, malformedSolver, trap.port)
  await register(service, chain.chainId, badAccount, { endpointUrl: bad.endpointUrl })
  bad.serve()
  return bad
}

/**
 * Requests a quote, compares the result with what the malformed solver must get, and returns the time that it
 * took.
 */
async function quoteBeside(malformedSolver: MalformedSolver): Promise<number> {
  const [outcome = '', reason = ''] = malformedSolver.outcome.split(' ')
  const count = () => service.metric('aggregator_solver_replies_total', { outcome, reason })
  const before = await count()
  const start = performance.now()
  const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  const elapsedMs = performance.now() - start

  expect([status, body.quote?.solver]).toEqual([200, goodAccount.address])
  const others = body.alternativeQuotes.map(({ quote }: { quote: { solver: string } }) => quote.solver)
  expect(others).toEqual(outcome === 'quoted' ? [badAccount.address] : [])
  expect((await count()) - before, malformedSolver.outcome).toBe(outcome === 'quoted' ? 2 : 1)
  return elapsedMs
}

/** Tries each of them in `npm run test:slow`; in `npm test`, `bad-solvers-together` has the others. */
const EVERY = rounds(1, 4)
const ending = [...badSolvers, ...badReplies].filter(({ outcome }) => outcome !== 'late')
const tried = (all: readonly MalformedSolver[]) => all.filter((_, index) => index % EVERY === 0)
const hanging = tried([...badSolvers, ...badReplies].filter(({ outcome }) => outcome === 'late'))

describe('a solver that never finishes its reply costs the others no more than the timeout', () => {
  // The time that a solver has cost also counts at its next endpoint.
  beforeEach(restartService)

  it.each(hanging)('case: it $name', async (malformedSolver) => {
    const bad = await startAndRegister(malformedSolver)
    const elapsedMs = await quoteBeside(malformedSolver)
    expect(elapsedMs).toBeGreaterThan(QUOTE_TIMEOUT_MS - 50)
    expect(elapsedMs).toBeLessThan(QUOTE_TIMEOUT_MS + SLACK_MS)
    await bad.abandoned()
    await bad.close()
  })
})

describe('a solver with a malformed reply costs the others nothing, also a second time', () => {
  it.each(tried(ending))('case: $name, outcome: $outcome', async (malformedSolver) => {
    const bad = await startAndRegister(malformedSolver)
    expect(await quoteBeside(malformedSolver)).toBeLessThan(SLACK_MS)
    expect(await quoteBeside(malformedSolver)).toBeLessThan(SLACK_MS)
    await bad.close()
  })
})

describe('a solver that does not stop sending is cut off, at the cost of what the sockets hold', () => {
  it.each(oversizedReplies)('case: $name, outcome: $outcome', async (malformedSolver) => {
    const bad = await startAndRegister(malformedSolver)
    const before = process.memoryUsage().rss
    expect(await quoteBeside(malformedSolver)).toBeLessThan(SLACK_MS)
    await bad.abandoned()
    expect(process.memoryUsage().rss - before).toBeLessThan(MOST_MEMORY_BYTES)
    expect(bad.sent()).toBeLessThan(BUFFERED_BYTES)
    await bad.close()
  })

  it('case: more bytes than the buffers can hold', () => {
    expect(FLOOD_BYTES).toBeGreaterThan(10 * BUFFERED_BYTES)
  })
})

it('one connection has no limit for all its replies, only for each one', async () => {
  const largest = ending.filter(({ name }) => name === 'a body of 64 KiB to the byte')
  expect(largest).toHaveLength(1)
  for (const malformedSolver of largest) {
    const bad = await startAndRegister(malformedSolver)
    for (let round = 0; round < 8; round++) await quoteBeside(malformedSolver)
    await bad.close()
  }
})

it('the service never follows a redirect of a solver', () => expect(trap.visits()).toBe(0))
