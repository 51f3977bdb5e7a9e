import { createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { beforeEach, describe, expect, it } from 'vitest'
import { OrderType, QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { shared } from '../../support/shared.js'
import { honest, type WireReply } from '../../support/solvers/solver.js'
import { NO_USER, NOW_MS, noteHeaders, signedOver, startPriceFixture } from './price-fixture.js'

const NONCE = '770000000000000000077'

const fixture = await shared(startPriceFixture())

beforeEach(() => fixture.reset())

describe('a price', () => {
  const transports: [string, (baseUrl: string) => Transport][] = [
    ['gRPC', (baseUrl) => createGrpcTransport({ baseUrl })],
    ['gRPC-Web', (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' })],
    ['Connect', (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1' })],
    [
      'Connect with binary messages',
      (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2', useBinaryFormat: true }),
    ],
  ]

  it('has the best solver by its display name, the number of offers, and when the auction ended', async () => {
    const swap = fixture.newSwap()
    const { status, body } = await fixture.ask(swap)
    expect(status).toBe(200)
    expect(body).toEqual({
      best: {
        solver: fixture.ada.account.address,
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
    ['with offers', 200, 200, {}],
    ['without a valid offer', 503, 400, { inputAmount: '1' }],
  ])(
    '%s reveals no nonce and no signature, in any protocol or in the log',
    async (_, status, connectStatus, changes) => {
      const signed: WireReply[] = []
      for (const solver of [fixture.ada, fixture.bob]) {
        solver.behave(async (asked, { quoteFor, sign }) => {
          const reply = await sign({ ...quoteFor(asked), outputAmount: '3000', nonce: NONCE, ...changes })
          signed.push(reply)
          return reply
        })
      }
      fixture.logged.length = 0
      const swap = fixture.newSwap()
      const json = JSON.stringify({
        ...swap,
        chainId: fixture.chain.chainId,
        orderType: 'ORDER_TYPE_EXACT_INPUT',
      })
      const rest = await fixture.ask(swap)
      const connect = await fetch(`${fixture.service.url}/aggregator.v1.QuoteService/GetPrice`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: json,
      })
      const messages = await Promise.all(
        transports.map(([, createTransport]) =>
          createClient(QuoteService, createTransport(fixture.service.url))
            .getPrice({ ...swap, chainId: BigInt(fixture.chain.chainId), orderType: OrderType.EXACT_INPUT })
            .catch((error) => error),
        ),
      )
      expect([rest.status, connect.status]).toEqual([status, connectStatus])
      const record =
        rest.body.quoteId === undefined ? [] : [(await fixture.readRecord(rest.body.quoteId)).body]
      const seen = [rest.body, await connect.text(), ...messages.map(plain), ...record, ...fixture.logged]
      const text = JSON.stringify(seen).toLowerCase()
      expect(signed.length).toBeGreaterThanOrEqual(2)
      expect(text).not.toMatch(/signature|nonce|[0-9a-f]{130}/)
      for (const secret of [NONCE, ...signed.map(({ signature }) => signature.slice(2).toLowerCase())])
        expect(text).not.toContain(secret)
    },
  )

  it('is NO_QUOTES without a valid offer, with the id of the record', async () => {
    for (const solver of [fixture.ada, fixture.bob]) solver.behave(signedOver({ inputAmount: '1' }))
    const { status, body } = await fixture.ask()
    expect([status, body.code]).toEqual([503, 'NO_QUOTES'])
    const { body: record } = await fixture.readRecord(body.quoteId)
    expect([record.kind, record.outcome, record.solvers.length]).toEqual(['INDICATIVE', 'NO_QUOTES', 2])
  })
})

describe('the record of a price', () => {
  it("is read by a solver's id, and says that it is indicative", async () => {
    const { noted, noting } = noteHeaders(honest({ output: '2000' }))
    fixture.bob.behave(noting)
    const swap = fixture.newSwap()
    await fixture.ask(swap)
    expect(noted.headers['x-quote-kind']).toBe('indicative')
    const { status, body } = await fixture.readRecord(noted.headers['x-quote-id'])
    expect([status, body.kind]).toEqual([200, 'INDICATIVE'])
    expect(body.request).toMatchObject({ ...swap, userAddress: NO_USER })
    expect(body.solvers).toEqual([
      expect.objectContaining({ solver: fixture.bob.account.address, outcome: 'QUOTED', rank: 2 }),
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
  const read = () => Promise.all(OF_QUOTES.map((name) => fixture.service.metric(name, {})))

  it('count prices on their own, and in none of the metrics of quotes and solvers', async () => {
    const outcomes = () => Promise.all(['quoted', 'no_quotes', 'cached'].map(fixture.counted))
    const [quotesBefore, before] = [await read(), await outcomes()]
    const swap = fixture.newSwap()
    await fixture.ask(swap)
    await fixture.ask(swap)
    for (const solver of [fixture.ada, fixture.bob]) solver.behave(signedOver({ inputAmount: '1' }))
    await fixture.ask()
    expect(await outcomes()).toEqual(before.map((count) => count + 1))
    expect(await read()).toEqual(quotesBefore)
    fixture.ada.behave(honest())
    await fixture.askForQuote()
    const after = await read()
    for (const [index, count] of after.entries()) expect(count).toBeGreaterThan(quotesBefore[index] ?? 0)
  })
})

/** A message of generated code, or an error, as plain values with integers as numbers. */
function plain(message: object) {
  return JSON.parse(
    JSON.stringify(
      message instanceof Error ? { ...message, text: String(message) } : message,
      (key, value) => {
        if (key === '$typeName') return undefined
        return typeof value === 'bigint' ? Number(value) : value
      },
    ),
  )
}
