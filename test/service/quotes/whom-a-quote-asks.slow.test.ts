import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bondSolver } from '../../../packages/cli/src/devnet/deploy.js'
import { BOND } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { listAllOwnResults } from '../../support/solvers/own-results.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startSolver } from '../../support/solvers/solver.js'

/** A fair price, and what a basis point of it is. */
const FAIR = 1_000_000
const BASIS_POINT = FAIR / 10_000
/** The defaults of the service, which tests usually replace: solvers of these tests answer late on purpose. */
const DEFAULTS = { QUOTE_TIMEOUT_MS: '2000', QUOTE_SOFT_TIMEOUT_MS: '500', TRUST_PROXY: '1' }

/** What a solver offers, in basis points above a fair price, and when. */
interface Priced {
  readonly bps: number
  readonly afterMs?: number
}

const chain = await shared(startModelChain({ bonded: 0 }))
let clients = 0

/** Bonds one solver more than the chain's own accounts. */
async function bondAccount() {
  const { devnet, contracts } = chain
  const { settlement } = contracts
  const solver = privateKeyToAccount(generatePrivateKey())
  await createCalls(devnet, settlement).client.setBalance({ address: solver.address, value: 10n ** 18n })
  await bondSolver({ ...devnet, settlement, solver }, BOND)
  return solver
}

/** A service, and solvers with prices. Both stop after the test. */
async function openMarket() {
  const service = await startService(chain, DEFAULTS)
  onTestFinished(() => service.close())

  /** One quote, from a new address: the best offer above a fair price in basis points, and the number of offers. */
  async function quote(changes: object = {}) {
    const headers = { 'x-forwarded-for': `198.18.0.${++clients % 250}` }
    const asked = { ...quoteRequest(chain), ...changes }
    const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, asked, { headers })
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
    return {
      bps: (Number(body.quote.outputAmount) - FAIR) / BASIS_POINT,
      offers: 1 + body.alternativeQuotes.length,
    }
  }

  return {
    quote,
    /** How many of so many quotes, one after the other, have this price. */
    async count(rounds: number, bps: number) {
      let found = 0
      for (let round = 0; round < rounds; round++) if ((await quote()).bps === bps) found++
      return found
    },
    /** Registers a solver for each price. A test may change the prices. */
    async addSolvers(prices: readonly Priced[]) {
      const accounts = await Promise.all(prices.map(bondAccount))
      return Promise.all(
        accounts.map(async (account, index) => {
          const priced = { ...(prices[index] as Priced) }
          const solver = await startSolver(chain, account, async (ask, { quoteFor, sign }) => {
            if (priced.afterMs !== undefined)
              await new Promise((resolve) => setTimeout(resolve, priced.afterMs))
            const outputAmount = String(Math.round(FAIR + priced.bps * BASIS_POINT))
            return sign({ ...quoteFor(ask), outputAmount })
          })
          onTestFinished(solver.close)
          await solver.register(service, `Solver ${index}`)
          return { ...solver, priced, results: () => listAllOwnResults(service, chain.chainId, account) }
        }),
      )
    },
  }
}

test('of thirty solvers, of which a quote asks ten, nearly every answer has the best one, also when that changes or is new', async () => {
  const { addSolvers, quote, count } = await openMarket()
  const [first] = await addSolvers(Array.from({ length: 30 }, (_, index) => ({ bps: -index })))
  await count(20, 0)
  expect(await count(100, 0)).toBeGreaterThanOrEqual(98)
  const [last] = (await first?.results()) ?? []
  expect(last.result).toMatchObject({ chosenBy: 'RANK', gapBps: 0, isWaitedFor: true })

  Object.assign(first?.priced ?? {}, { bps: -50 })
  for (let round = 0; round < 6; round++) await quote()
  expect(await count(40, -1)).toBeGreaterThanOrEqual(38)

  await addSolvers([{ bps: 5 }])
  expect(await count(10, 5)).toBeGreaterThanOrEqual(1)
  expect(await count(100, 5)).toBeGreaterThanOrEqual(95)
})

test('a slow solver that is 5 bp better has its offer in the answers', async () => {
  const { addSolvers, quote, count } = await openMarket()
  const [, , slow] = await addSolvers([{ bps: 0 }, { bps: -2 }, { bps: 5, afterMs: 900 }])
  for (let round = 0; round < 25; round++) await quote()
  await slow?.catchUp()
  expect(await count(20, 5)).toBeGreaterThanOrEqual(18)
})

describe('a caller says how long it waits:', () => {
  test.each([
    ['softDeadlineMs 0 waits for all', { softDeadlineMs: 0 }, 4],
    ['softDeadlineMs 100 ends then, with what is there', { softDeadlineMs: 100 }, 2],
    ['minQuotes 3 waits for three', { minQuotes: 3 }, 3],
  ])('%s', async (_what, waiting, offers) => {
    const { addSolvers, quote } = await openMarket()
    const late = [700, 1400].map((afterMs) => ({ bps: 1, afterMs }))
    const solvers = await addSolvers([{ bps: 0 }, { bps: -2 }, ...late])
    // Now it is known who is quick.
    await quote({ softDeadlineMs: 0 })
    await Promise.all(solvers.map((solver) => solver.catchUp()))
    expect((await quote(waiting)).offers).toBe(offers)
  })
})
