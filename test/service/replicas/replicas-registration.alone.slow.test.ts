import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { startReplicas } from '../../support/replicas/replicas.js'
import type { TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import {
  signedRegistration,
  signedUnregistration,
  startSolver,
  type TestSolver,
} from '../../support/solvers/solver.js'

/** How soon every replica must request quotes from a solver that registered at one of them, beyond the time of a quote. */
const SOON_MS = 100
const ROUNDS = 10

let chain: TestChain
let solver: TestSolver
let path: string

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  solver = await startSolver(chain, solverAccounts[0])
  path = `/v1/${chain.chainId}/solvers`
})
afterAll(async () => {
  await solver?.close()
  await chain?.stop()
})

const quoteAt = (replica: TestService) => replica.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
const registerAt = async (replica: TestService, { account, endpointUrl }: TestSolver) =>
  replica.post(`${path}/register`, await signedRegistration(account, { endpointUrl }))
const unregisterAt = async (replica: TestService, { account }: TestSolver) =>
  replica.delete(`${path}/${account.address}`, await signedUnregistration(account))

describe('a solver that registers at one replica', () => {
  /**
   * Requests quotes from a replica until it requests them from the solver, or no longer does.
   * @returns how long that took, in milliseconds
   */
  async function untilRequested(replica: TestService, isExpected: boolean): Promise<number> {
    const start = performance.now()
    for (;;) {
      const before = solver.asks.length
      await quoteAt(replica)
      if (solver.asks.length > before === isExpected) return performance.now() - start
    }
  }

  const median = (times: readonly number[]) => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0

  it('gets requests from all others at once, and none after it has unregistered', async () => {
    const { services } = await startReplicas(chain)
    const [first, second, third] = services
    const registered: number[] = []
    const unregistered: number[] = []
    const quotes: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      expect((await registerAt(first, solver)).status).toBe(200)
      registered.push(await untilRequested(second, true), await untilRequested(third, true))
      const start = performance.now()
      await quoteAt(second)
      quotes.push(performance.now() - start)
      expect((await unregisterAt(second, solver)).status).toBe(200)
      unregistered.push(await untilRequested(first, false), await untilRequested(third, false))
    }
    expect(median(registered)).toBeLessThan(SOON_MS + median(quotes))
    expect(median(unregistered)).toBeLessThan(SOON_MS + median(quotes))
  })
})
