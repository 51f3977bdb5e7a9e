import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { onTestFinished } from 'vitest'
import { bondSolver } from '../../../packages/cli/src/devnet/deploy.js'
import { BOND, type TestChain } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { startService } from '../../support/service/service.js'
import { listAllOwnResults } from '../../support/solvers/own-results.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type SolverRequest, startSolver } from '../../support/solvers/solver.js'

/** A fair price, and what a basis point of it is. */
const FAIR = 1_000_000
const BASIS_POINT = FAIR / 10_000

/** What a solver offers, in basis points above a fair price, and when. */
export interface Priced {
  readonly bps: (ask: SolverRequest) => number
  readonly afterMs?: number
}

/** The defaults of the service, which tests usually replace: solvers of these tests answer late on purpose. */
const DEFAULTS = { QUOTE_TIMEOUT_MS: '2000', QUOTE_SOFT_TIMEOUT_MS: '500', TRUST_PROXY: '1' }

let clients = 0

/** The headers of a client that has not been seen before, as a proxy forwards it. */
function fromNewClient(): RequestInit {
  clients++
  return { headers: { 'x-forwarded-for': `198.18.${Math.floor(clients / 250) % 250}.${clients % 250}` } }
}

/** Bonds one solver more than the chain's own accounts. */
async function bondAccount({ devnet, contracts: { settlement } }: TestChain) {
  const solver = privateKeyToAccount(generatePrivateKey())
  await createCalls(devnet, settlement).client.setBalance({ address: solver.address, value: 10n ** 18n })
  await bondSolver({ ...devnet, settlement, solver }, BOND)
  return solver
}

/** A service, and solvers with prices. Both stop after the test. */
export async function openMarket(chain: TestChain, environment: Record<string, string> = {}) {
  const service = await startService(chain, { ...DEFAULTS, ...environment })
  onTestFinished(() => service.close())
  const path = `/v1/${chain.chainId}/quote`

  return {
    service,
    /** Registers a solver for each price. A test may change the prices. */
    async addSolvers(prices: readonly Priced[]) {
      const accounts = await Promise.all(prices.map(() => bondAccount(chain)))
      return Promise.all(
        accounts.map(async (account, index) => {
          const priced = { ...(prices[index] as Priced) }
          const solver = await startSolver(chain, account, async (ask, { quoteFor, sign }) => {
            if (priced.afterMs !== undefined)
              await new Promise((resolve) => setTimeout(resolve, priced.afterMs))
            const outputAmount = String(Math.round(FAIR + priced.bps(ask) * BASIS_POINT))
            return sign({ ...quoteFor(ask), outputAmount })
          })
          onTestFinished(solver.close)
          await solver.register(service, `Solver ${index}`)
          return { ...solver, priced, results: () => listAllOwnResults(service, chain.chainId, account) }
        }),
      )
    },
    /** One quote, from a new address by default: the best offer above a fair price in basis points, and the time. */
    async quote(changes: object = {}, init: RequestInit = fromNewClient()) {
      const start = performance.now()
      const { status, body } = await service.post(path, { ...quoteRequest(chain), ...changes }, init)
      if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
      return {
        bps: (Number(body.quote.outputAmount) - FAIR) / BASIS_POINT,
        offers: 1 + body.alternativeQuotes.length,
        elapsedMs: performance.now() - start,
      }
    },
  }
}

/** Plays rounds one after the other. @returns their results */
export async function times<T>(count: number, play: (round: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let round = 0; round < count; round++) results.push(await play(round))
  return results
}
