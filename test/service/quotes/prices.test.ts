import type { IncomingHttpHeaders } from 'node:http'
import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { startScene } from '../../support/service/scene.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, type WireReply } from '../../support/solvers/solver.js'

/** The clock of the service stands still, later than every block: deadlines count from the later one. */
const NOW_MS = Date.now() + 120_000
/** The user of requests for prices. */
const NO_USER = '0x000000000000000000000000000000000000dEaD'
const NONCE = '770000000000000000077'

/** Replies without the input that was asked. */
const invalid: Behaviour = async (asked, { quoteFor, sign }) => sign({ ...quoteFor(asked), inputAmount: '1' })

const logged: string[] = []
const { chain, service, solvers } = await startScene({
  solvers: ['Ada', 'Bob'],
  environment: { QUOTE_TIMEOUT_MS: '2000', PRICE_CACHE_MS: '60000' },
  overrides: {
    clock: { ...systemClock, now: () => NOW_MS },
    log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
  },
})
const [ada, bob] = solvers

beforeEach(() => behave(honest({ output: '3000' }), honest({ output: '2000' })))

function behave(ofAda: Behaviour, ofBob = ofAda): void {
  ada.behave(ofAda)
  bob.behave(ofBob)
}

let lastAmount = 1000
/** A swap that has not been asked before. */
function newSwap() {
  const { inputToken, outputToken } = quoteRequest(chain)
  return { inputToken, outputToken, orderType: 'EXACT_INPUT', amount: String(++lastAmount) }
}
/** Asks for a price. */
const ask = (swap: object = newSwap()) => service.post(`/v1/${chain.chainId}/price`, swap)
const readRecord = (id: unknown) => service.get(`/v1/${chain.chainId}/quote/${id}`)

describe('a price', () => {
  it('has the best solver by its display name, the number of offers, and when the auction ended', async () => {
    const swap = newSwap()
    const { status, body } = await ask(swap)
    expect(status).toBe(200)
    expect(body).toEqual({
      best: {
        solver: ada.account.address,
        name: 'Ada',
        inputAmount: swap.amount,
        outputAmount: '3000',
      },
      offers: 2,
      asOf: NOW_MS,
      serverTime: expect.any(Number),
    })
  })

  it.each([
    ['with offers', 200, {}],
    ['without a valid offer', 503, { inputAmount: '1' }],
  ])(
    '%s reveals no nonce and no signature, in its record or in the log either',
    async (_, status, changes) => {
      const signed: WireReply[] = []
      behave(async (asked, { quoteFor, sign }) => {
        const reply = await sign({ ...quoteFor(asked), outputAmount: '3000', nonce: NONCE, ...changes })
        signed.push(reply)
        return reply
      })
      logged.length = 0
      const answer = await ask()
      expect(answer.status).toBe(status)
      const { quoteId } = answer.body
      const record = quoteId === undefined ? [] : [(await readRecord(quoteId)).body]
      const text = JSON.stringify([answer.body, ...record, ...logged]).toLowerCase()
      expect(signed).toHaveLength(2)
      expect(text).not.toMatch(/signature|nonce|[0-9a-f]{130}/)
      for (const secret of [NONCE, ...signed.map(({ signature }) => signature.slice(2).toLowerCase())])
        expect(text).not.toContain(secret)
    },
  )

  it('is NO_QUOTES without a valid offer, with the id of the record', async () => {
    behave(invalid)
    const { status, body } = await ask()
    expect([status, body.code]).toEqual([503, 'NO_QUOTES'])
    const { body: record } = await readRecord(body.quoteId)
    expect([record.kind, record.outcome, record.solvers.length]).toEqual(['INDICATIVE', 'NO_QUOTES', 2])
  })
})

describe('the record of a price', () => {
  it("is read by a solver's id, and says that it is indicative", async () => {
    let headers: IncomingHttpHeaders = {}
    bob.behave(async (...exchange) => {
      headers = exchange[2].request.headers
      return honest({ output: '2000' })(...exchange)
    })
    const swap = newSwap()
    await ask(swap)
    expect(headers['x-quote-kind']).toBe('indicative')
    const { status, body } = await readRecord(headers['x-quote-id'])
    expect([status, body.kind]).toEqual([200, 'INDICATIVE'])
    expect(body.request).toMatchObject({ ...swap, userAddress: NO_USER })
    expect(body.solvers).toEqual([
      expect.objectContaining({ solver: bob.account.address, outcome: 'QUOTED', rank: 2 }),
    ])
  })
})

describe('the metrics', () => {
  const OF_QUOTES = [
    'aggregator_quotes_total',
    'aggregator_solver_replies_total',
    'aggregator_solver_outcomes_total',
    'aggregator_solver_response_duration_seconds_count',
  ]
  const read = () => Promise.all(OF_QUOTES.map((name) => service.metric(name, {})))

  it('count prices on their own, and in none of the metrics of quotes and solvers', async () => {
    const outcomes = () =>
      Promise.all(
        ['quoted', 'no_quotes', 'cached'].map((outcome) =>
          service.metric('aggregator_prices_total', { outcome }),
        ),
      )
    const [quotesBefore, before] = [await read(), await outcomes()]
    const swap = newSwap()
    await ask(swap)
    await ask(swap)
    behave(invalid)
    await ask()
    expect(await outcomes()).toEqual(before.map((count) => count + 1))
    expect(await read()).toEqual(quotesBefore)
    ada.behave(honest())
    await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    const after = await read()
    for (const [index, count] of after.entries()) expect(count).toBeGreaterThan(quotesBefore[index] ?? 0)
  })
})
