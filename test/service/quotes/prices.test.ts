import { createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { OrderType, QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import type { DropReason } from '../../../packages/protocol/src/quotes/offer.js'
import { user } from '../../support/chain/chain.js'
import { NOW_MS, noteHeaders, signedOver, startPriceFixture } from '../../support/service/price-fixture.js'
import type { Behaviour, WireReply } from '../../support/solvers/solver.js'

/** The settlement contract's smallest output is 20. */
const BELOW_MINIMUM = '19'
const BEYOND_BOND = `${2n ** 256n - 1n}`
const NONCE = '770000000000000000077'

let fixture: Awaited<ReturnType<typeof startPriceFixture>>

beforeAll(async () => {
  fixture = await startPriceFixture()
})
afterAll(() => fixture?.close())
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

  it.each(transports)('is the same over %s as over REST', async (_, createTransport) => {
    const swap = fixture.newSwap()
    const request = { ...swap, chainId: BigInt(fixture.chain.chainId), orderType: OrderType.EXACT_INPUT }
    const answer = await createClient(QuoteService, createTransport(fixture.service.url)).getPrice(request)
    const { body } = await fixture.ask(swap)
    expect(plain(answer)).toEqual(body)
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

  const faults: [string, DropReason, Behaviour][] = [
    [
      'a signature over another quote',
      'signature_mismatch',
      async (asked, { quoteFor, sign }) => {
        const quote = { ...quoteFor(asked), outputAmount: '999999999999' }
        const { signature } = await sign({ ...quote, nonce: '99' })
        return { quote, signature }
      },
    ],
    ['another input', 'fixed_amount_mismatch', signedOver({ inputAmount: '1' })],
    ['another user', 'user_mismatch', signedOver({ user: user.address })],
    ['an output below the minimum order', 'below_minimum_order', signedOver({ outputAmount: BELOW_MINIMUM })],
    ['an output that the bond does not cover', 'bond_too_small', signedOver({ outputAmount: BEYOND_BOND })],
  ]

  it.each(faults)('leaves out an offer with %s', async (_, reason, behaviour) => {
    const { noted, noting } = noteHeaders(behaviour)
    fixture.ada.behave(noting)
    const { status, body } = await fixture.ask()
    expect([status, body.best.name, body.offers]).toEqual([200, 'Bob', 1])
    const { body: record } = await fixture.readRecord(noted.headers['x-quote-id'])
    const solver = fixture.ada.account.address
    expect(record.solvers).toEqual([expect.objectContaining({ solver, outcome: 'INVALID', reason })])
  })

  it('is NO_QUOTES without a valid offer, with the id of the record', async () => {
    for (const solver of [fixture.ada, fixture.bob]) solver.behave(signedOver({ inputAmount: '1' }))
    const { status, body } = await fixture.ask()
    expect([status, body.code]).toEqual([503, 'NO_QUOTES'])
    const { body: record } = await fixture.readRecord(body.quoteId)
    expect([record.kind, record.outcome, record.solvers.length]).toEqual(['INDICATIVE', 'NO_QUOTES', 2])
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
