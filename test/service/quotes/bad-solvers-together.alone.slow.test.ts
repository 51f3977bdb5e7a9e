import { type LocalAccount, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bondSolver } from '../../../packages/cli/src/devnet/deploy.js'
import { BOND, solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { readMetrics } from '../../support/service/metrics.js'
import { startService, type TestService } from '../../support/service/service.js'
import { badReplies } from '../../support/solvers/bad-replies.js'
import { badSolvers, LONGEST_TIMEOUT_MS } from '../../support/solvers/bad-solvers.js'
import { oversizedReplies } from '../../support/solvers/oversized-replies.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type RawSolver, startRawSolver, startTrap, type Trap } from '../../support/solvers/raw-solver.js'
import { honest, register, startSolver, type TestSolver } from '../../support/solvers/solver.js'

/** What a busy machine of two cores may add: all malformed solvers sign their offers in this process. */
const SLACK_MS = 800
const ROUNDS = 2
const malformedSolvers = [...badSolvers, ...badReplies, ...oversizedReplies]

let chain: TestChain
let service: TestService
let good: TestSolver
let trap: Trap
let zoo: RawSolver[]

const mishaps: unknown[] = []
const noteMishap = (mishap: unknown) => mishaps.push(mishap)

beforeAll(async () => {
  for (const kind of ['unhandledRejection', 'uncaughtExceptionMonitor', 'warning'])
    process.on(kind, noteMishap)
  chain = await startChain({ bonded: 1 })
  service = await startService(chain, {
    QUOTE_TIMEOUT_MS: String(LONGEST_TIMEOUT_MS),
    MAX_QUOTE_FAN_OUT: '1000',
    MAX_SOLVERS_PER_CHAIN: '1000',
  })
  good = await startSolver(chain, solverAccounts[0], honest({ output: '1000' }))
  trap = await startTrap()
  zoo = await Promise.all(malformedSolvers.map(startBonded))
  await good.register(service)
})

afterAll(async () => {
  await service?.close()
  await Promise.all([good, trap, ...(zoo ?? [])].map((each) => each?.close()))
  await chain?.stop()
  for (const kind of ['unhandledRejection', 'uncaughtExceptionMonitor', 'warning'])
    process.off(kind, noteMishap)
})

/** Anvil has too few accounts: each malformed solver has one of its own. */
async function startBonded(
  malformedSolver: (typeof malformedSolvers)[number],
  index: number,
): Promise<RawSolver> {
  const account = privateKeyToAccount(numberToHex(index + 1, { size: 32 }))
  await giveEther(account)
  await bondSolver({ ...chain.devnet, settlement: chain.contracts.settlement, solver: account }, BOND)
  const solver = await startRawSolver(chain, account, malformedSolver, trap.port)
  await register(service, chain.chainId, account, { endpointUrl: solver.endpointUrl })
  solver.serve()
  return solver
}

async function giveEther({ address }: LocalAccount): Promise<void> {
  const params = [address, numberToHex(10n ** 18n)]
  const call = { jsonrpc: '2.0', id: 1, method: 'anvil_setBalance', params }
  const headers = { 'content-type': 'application/json' }
  await fetch(chain.devnet.rpcUrl, { method: 'POST', headers, body: JSON.stringify(call) })
}

/** The count of each outcome, with its reason. */
async function outcomes(): Promise<Record<string, number>> {
  const { series } = await readMetrics(service.url)
  return Object.fromEntries(
    series('aggregator_solver_replies_total').map(({ labels, value }) => [
      `${labels.outcome} ${labels.reason}`.trim(),
      value,
    ]),
  )
}

/** The expected counts after this many rounds. */
function expectedOutcomes(rounds: number): Record<string, number> {
  const counts: Record<string, number> = { quoted: rounds }
  for (const { outcome } of malformedSolvers) counts[outcome] = (counts[outcome] ?? 0) + rounds
  return counts
}

it('an honest solver wins each time among all the malformed solvers at once', async () => {
  const decent = zoo
    .filter(({ malformedSolver }) => malformedSolver.outcome === 'quoted')
    .map(({ account }) => account.address)
  for (let round = 1; round <= ROUNDS; round++) {
    const start = performance.now()
    const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    expect(performance.now() - start).toBeLessThan(LONGEST_TIMEOUT_MS + SLACK_MS)
    expect([status, body.quote?.solver]).toEqual([200, solverAccounts[0].address])
    const others = body.alternativeQuotes.map(({ quote }: { quote: { solver: string } }) => quote.solver)
    expect(others.toSorted()).toEqual(decent.toSorted())
    expect(await outcomes()).toEqual(expectedOutcomes(round))
  }
})

it('the service is healthy after all malformed replies, and no error is unhandled', async () => {
  const hanging = zoo.filter(({ malformedSolver }) => malformedSolver.outcome === 'late')
  for (const solver of hanging) await solver.abandoned()
  const { status, body } = await service.get('/health')
  expect([status, body.status, body.activeSolvers]).toEqual([200, 'ok', { [chain.chainId]: zoo.length + 1 }])
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted')
  expect(trap.visits()).toBe(0)
  expect(mishaps).toEqual([])
})
