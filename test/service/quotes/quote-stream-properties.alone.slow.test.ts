import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createRandom, type Random } from '../../support/random.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, startSolver, type TestSolver } from '../../support/solvers/solver.js'
import { type QuoteMessage, quoteTransports } from '../../support/streams/quote-stream-clients.js'

const SOLVERS = 5
const NOW_MS = Date.now()

let chain: TestChain
let service: TestService
let solvers: TestSolver[]

beforeAll(async () => {
  chain = await startChain({ bonded: SOLVERS })
  service = await startService(chain, {}, { clock: { ...systemClock, now: () => NOW_MS } })
  const accounts = solverAccounts.slice(0, SOLVERS)
  solvers = await Promise.all(accounts.map((account) => startSolver(chain, account)))
  for (const solver of solvers) await solver.register(service)
})

afterAll(async () => {
  await service?.close()
  await Promise.all((solvers ?? []).map((solver) => solver.close()))
  await chain?.stop()
})

/** A behaviour that is the same for each request. Few different amounts, so that some offers are equal. */
function randomBehaviour(random: Random, nonce: number): Behaviour {
  const delayMs = random.pick([0, 0, 5, 20, 60])
  const amount = String(random.integer(1, 4) * 1000)
  const status = random.pick([422, 500, 503])
  const offer: Behaviour = async (ask, { quoteFor, sign }) => {
    const competing = ask.orderType === 'EXACT_INPUT' ? 'outputAmount' : 'inputAmount'
    return sign({ ...quoteFor(ask), [competing]: amount, nonce: String(nonce) })
  }
  const answer = random.pick<Behaviour>([
    offer,
    offer,
    offer,
    async (_ask, _solver, { response }) => void response.writeHead(status).end(),
    async (_ask, _solver, { response }) => void response.destroy(),
    async (ask, { quoteFor, sign }) => sign({ ...quoteFor(ask), depositDeadline: 1 }),
    async (_ask, _solver, { response }) => void response.end('not JSON'),
  ])
  return async (...ask) => {
    await delay(delayMs)
    return answer(...ask)
  }
}

const amountOf = (side: 'inputAmount' | 'outputAmount') => (offer: QuoteMessage) => BigInt(offer.quote[side])
const offerOf = ({ quote, solverSignature, depositAddress, orderId }: QuoteMessage) => {
  return { quote, solverSignature, depositAddress, orderId }
}
const bySolver = (a: QuoteMessage, b: QuoteMessage) => (a.quote.solver < b.quote.solver ? -1 : 1)

it.each(Array.from({ length: 60 }, (_, seed) => seed))(
  'a round of a stream agrees with GetQuote for random solvers (seed %i)',
  async (seed) => {
    const random = createRandom(seed)
    for (const [index, solver] of solvers.entries()) solver.behave(randomBehaviour(random, seed * 10 + index))
    const orderType = random.pick(['EXACT_INPUT', 'EXACT_OUTPUT'])
    const request = { ...quoteRequest(chain), orderType }
    const { open } = random.pick(quoteTransports as [(typeof quoteTransports)[number]])

    const messages: QuoteMessage[] = []
    // With a further round, a round without an offer ends like any other.
    for await (const message of open(service.url, chain.chainId, { ...request, refreshSeconds: 60 })) {
      messages.push(message)
      if (message.type === 'done') break
    }
    const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, request)

    const done = messages.at(-1) as QuoteMessage
    const updates = messages.slice(0, -1)
    const side = orderType === 'EXACT_INPUT' ? 'outputAmount' : 'inputAmount'
    const amounts = updates.map(amountOf(side))
    const improving = [...new Set(amounts)].sort((a, b) =>
      Number(orderType === 'EXACT_INPUT' ? a - b : b - a),
    )
    expect(amounts, 'each offer is better than the one before').toEqual(improving)

    if (status !== 200) {
      expect([body.code, updates, done.quoted, done.bestOrderId]).toEqual(['NO_QUOTES', [], 0, undefined])
      return
    }
    const best = updates.at(-1) as QuoteMessage
    expect([done.quoteId, done.bestOrderId]).toEqual([best.quoteId, best.orderId])
    const streamed = [offerOf(best), ...done.alternativeQuotes.map(offerOf)]
    const asked = [offerOf(body), ...body.alternativeQuotes.map(offerOf)]
    // Equal offers are ranked by their arrival, which differs from round to round.
    expect(streamed.map(amountOf(side))).toEqual(asked.map(amountOf(side)))
    expect(streamed.sort(bySolver)).toEqual(asked.sort(bySolver))
    expect(done.quoted).toBe(asked.length)
    expect(done.quoted + done.declined + done.invalid + done.failed + done.late).toBe(done.asked)
  },
)
