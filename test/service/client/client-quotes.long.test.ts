import { once } from 'node:events'
import {
  type AggregatorClient,
  createAggregatorClient,
  limitsOf,
  type QuoteStreamMessage,
  type QuoteStreamParams,
  readSettlement,
  verifyQuote,
} from '@quote-aggregator/client'
import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { deferred } from '../../support/deferred.js'
import { itSlow } from '../../support/rounds.js'
import { startService, type TestService } from '../../support/service/service.js'
import { type Behaviour, honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

let chain: TestChain
let service: TestService
let solvers: TestSolver[]
let client: AggregatorClient
let params: QuoteStreamParams

const decline: Behaviour = async (_ask, _solver, { response }) => void response.writeHead(422).end()

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
  service = await startService(chain)
  solvers = await Promise.all(solverAccounts.slice(0, 2).map((account) => startSolver(chain, account)))
  for (const solver of solvers) await solver.register(service)
  client = createAggregatorClient({ baseUrl: service.url })
  params = {
    chainId: chain.chainId,
    inputToken: chain.contracts.weth,
    outputToken: chain.contracts.usdc,
    orderType: 'EXACT_INPUT',
    amount: 10n ** 18n,
    user: user.address,
    depositMode: 'CONTRACT',
  }
})

afterAll(async () => {
  await service?.close()
  await Promise.all((solvers ?? []).map((solver) => solver.close()))
  await chain?.stop()
})

beforeEach(() => behave(honest({ output: '2000' }), honest({ output: '3000' })))

function behave(...behaviours: Behaviour[]): void {
  behaviours.forEach((behaviour, index) => {
    solvers[index]?.behave(behaviour)
  })
}

/** A solver that holds its answer. */
function holding(answer: Behaviour) {
  const gate = deferred()
  const asked = deferred()
  let left: Promise<unknown> | undefined
  const behaviour: Behaviour = async (...ask) => {
    left = once(ask[2].response, 'close')
    asked.open()
    await gate.opened
    return answer(...ask)
  }
  return { behaviour, asked: asked.opened, answer: gate.open, left: () => left }
}

const start = (changes: Partial<QuoteStreamParams> = {}, options = {}) =>
  client.streamQuotes({ ...params, ...changes }, options)[Symbol.asyncIterator]()

async function take(messages: AsyncIterator<QuoteStreamMessage>): Promise<QuoteStreamMessage> {
  const { value, done } = await messages.next()
  if (done) throw new Error('the stream has ended')
  return value
}

describe('the stream of quotes', () => {
  it('yields each better offer as it comes, and then the end, with offers that can be verified', async () => {
    const late = holding(honest({ output: '3000' }))
    behave(honest({ output: '2000' }), late.behaviour)
    const messages = start()
    const first = await take(messages)
    expect(first).toMatchObject({ type: 'quote', round: 1, offer: { quote: { outputAmount: 2000n } } })
    expect(first).toMatchObject({ asked: 2, answered: 1 })
    late.answer()
    const second = await take(messages)
    expect(second).toMatchObject({ type: 'quote', round: 1, offer: { quote: { outputAmount: 3000n } } })
    const done = await take(messages)
    if (first.type !== 'quote' || second.type !== 'quote' || done.type !== 'done') throw new Error('no round')
    expect(done).toEqual({
      ...{ type: 'done', quoteId: first.quoteId, round: 1, best: second.offer, alternatives: [first.offer] },
      ...{ asked: 2, quoted: 2, declined: 0, invalid: 0, failed: 0, late: 0 },
      expiresAt: second.offer.quote.depositDeadline * 1000,
    })
    expect((await messages.next()).done).toBe(true)
    const node = createPublicClient({ transport: http(chain.devnet.rpcUrl) })
    const terms = await readSettlement(node, chain.contracts.settlement)
    for (const offer of [first.offer, second.offer])
      await verifyQuote(offer, { ...terms, params, limits: limitsOf(offer.quote) })
    const record = await client.getQuoteRecord(chain.chainId, done.quoteId)
    expect(record).toMatchObject({ outcome: 'QUOTED', kind: 'FIRM' })
  })

  itSlow('has one round after the other', async () => {
    const rounds = []
    for await (const message of client.streamQuotes({ ...params, refreshSeconds: 5 })) {
      if (message.type === 'quote') continue
      rounds.push([message.round, message.best?.quote.outputAmount])
      if (message.round === 2) break
      behave(decline, honest({ output: '4000' }))
    }
    expect(rounds).toEqual([
      [1, 3000n],
      [2, 4000n],
    ])
  })

  it('cancels the requests to solvers when the caller leaves the loop', async () => {
    const late = holding(honest())
    behave(honest({ output: '2000' }), late.behaviour)
    const messages = start()
    await take(messages)
    await late.asked
    await messages.return?.()
    await late.left()
    late.answer()
  })

  it('cancels them when the signal aborts, which is no error', async () => {
    const [one, other] = [holding(honest()), holding(honest())]
    behave(one.behaviour, other.behaviour)
    const leaving = new AbortController()
    const next = start({}, { signal: leaving.signal }).next()
    await Promise.all([one.asked, other.asked])
    leaving.abort()
    expect(await next).toEqual({ done: true, value: undefined })
    await Promise.all([one.left(), other.left()])
    for (const solver of [one, other]) solver.answer()
  })

  it('throws NO_QUOTES with the id of the record, and the errors of a bad request', async () => {
    behave(decline, decline)
    const error = await start()
      .next()
      .catch((thrown) => thrown)
    expect(error).toMatchObject({ name: 'AggregatorError', reason: 'NO_QUOTES' })
    const record = await client.getQuoteRecord(chain.chainId, error.quoteId)
    expect(record.outcome).toBe('NO_QUOTES')
    await expect(start({ chainId: 5 }).next()).rejects.toMatchObject({
      reason: 'CHAIN_NOT_SUPPORTED',
      httpStatus: 404,
    })
    await expect(start({ softDeadlineMs: 60_000 }).next()).rejects.toMatchObject({
      reason: 'INVALID_ARGUMENT',
      violations: [{ field: 'softDeadlineMs', message: 'must be an integer of 0 to 20000' }],
    })
  })
})

it('a soft deadline ends a quote and a stream as soon as there are enough offers', async () => {
  const late = holding(honest({ output: '3000' }))
  behave(honest({ output: '2000' }), late.behaviour)
  const early = { softDeadlineMs: 1, minQuotes: 1 }
  const { best, alternatives } = await client.getQuote({ ...params, ...early })
  expect([best.quote.outputAmount, alternatives]).toEqual([2000n, []])
  const messages = start(early)
  await take(messages)
  expect(await take(messages)).toMatchObject({ type: 'done', asked: 2, quoted: 1, late: 0 })
  late.answer()
})
