import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { deferred } from '../../support/deferred.js'
import { startScene } from '../../support/service/scene.js'
import { startService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest } from '../../support/solvers/solver.js'
import {
  errorOf,
  type QuoteStreamRequest,
  type QuoteTransport,
  quoteTransports,
  readAll,
} from '../../support/streams/quote-stream-clients.js'

const NOW_MS = Date.now()
const [firstTransport] = quoteTransports as readonly [QuoteTransport]

/** The same offer for each request. */
const constant =
  (outputAmount: string): Behaviour =>
  async (ask, { quoteFor, sign }) =>
    sign({ ...quoteFor(ask), outputAmount, nonce: '7' })

const decline: Behaviour = async (_ask, _solver, { response }) => void response.writeHead(422).end()

const { chain, service, solvers } = await startScene({
  solvers: ['Ada', 'Bob', 'Cleo'],
  overrides: { clock: { ...systemClock, now: () => NOW_MS } },
})

beforeEach(() => {
  for (const solver of solvers) solver.behave(honest())
})

function behave(...behaviours: Behaviour[]): void {
  behaviours.forEach((behaviour, index) => {
    solvers[index]?.behave(behaviour)
  })
}

describe.each(quoteTransports)('a stream of quotes over $name', ({ open, protocol }) => {
  const stream = (changes: QuoteStreamRequest = {}, signal?: AbortSignal) =>
    open(service.url, chain.chainId, { ...quoteRequest(chain), ...changes }, signal)

  it('sends each better offer when it comes, and at its end what GetQuote returns', async () => {
    const gates = [deferred(), deferred(), deferred()]
    const outputs = ['1000', '3000', '2000']
    behave(
      ...gates.map(
        ({ opened }, index): Behaviour =>
          async (...ask) => {
            await opened
            return constant(outputs[index] ?? '')(...ask)
          },
      ),
    )
    const messages = stream({ includeCalls: true })[Symbol.asyncIterator]()
    const first = messages.next()
    gates[0]?.open()
    expect((await first).value).toMatchObject({ type: 'quote', round: 1, asked: 3, answered: 1 })
    const second = messages.next()
    gates[1]?.open()
    const best = (await second).value
    expect(best).toMatchObject({ type: 'quote', quote: { outputAmount: '3000' }, asked: 3, answered: 2 })
    const third = messages.next()
    gates[2]?.open()
    const done = (await third).value
    expect(done).toMatchObject({
      type: 'done',
      round: 1,
      quoteId: best.quoteId,
      bestOrderId: best.orderId,
      ...{ asked: 3, quoted: 3, declined: 0, invalid: 0, failed: 0, late: 0 },
      expiresAt: best.quote.depositDeadline * 1000,
    })
    expect((await messages.next()).done).toBe(true)

    const request = { ...quoteRequest(chain), includeCalls: true }
    const { body } = await service.post(`/v1/${chain.chainId}/quote`, request)
    const { quoteId: _id, serverTime: _time, alternativeQuotes, ...offer } = body
    expect(alternativeQuotes).toMatchObject([{ calls: [{}, {}] }, { calls: [{}, {}] }])
    expect(done.alternativeQuotes).toEqual(alternativeQuotes)
    expect(best).toMatchObject(offer)
  })

  it('names its bad field before it opens, and ends with NO_QUOTES and the id of the record', async () => {
    const refused = await errorOf(stream({ refreshSeconds: 4 }))
    const status = protocol === 'sse' ? 400 : 'InvalidArgument'
    expect(refused).toMatchObject({ reason: 'INVALID_ARGUMENT', status })
    expect(refused.fields).toEqual(['refreshSeconds'])

    behave(decline, decline, decline)
    const { reason, quoteId } = await errorOf(stream())
    expect(reason).toBe('NO_QUOTES')
    const record = await service.get(`/v1/${chain.chainId}/quote/${quoteId}`)
    expect(record.body).toMatchObject({ outcome: 'NO_QUOTES', kind: 'FIRM' })
  })

  it('cancels its requests to solvers when the client leaves', async () => {
    const asked = deferred()
    const cancelled = deferred()
    behave(decline, decline, async (_ask, _solver, { response }) => {
      response.once('close', cancelled.open)
      asked.open()
      return undefined
    })
    const before = await service.metric('aggregator_quotes_total', { outcome: 'cancelled' })
    const leaving = new AbortController()
    const reading = readAll(stream({ refreshSeconds: 60 }, leaving.signal)).catch(() => undefined)
    await asked.opened
    leaving.abort()
    await cancelled.opened
    await reading
    // The end of the round would make it late.
    await expect
      .poll(() => service.metric('aggregator_quotes_total', { outcome: 'cancelled' }))
      .toBe(before + 1)
  })
})

it('a stream with further rounds reports a round without an offer as its end', async () => {
  behave(decline, decline, decline)
  const request = { ...quoteRequest(chain), refreshSeconds: 5 }
  for await (const message of firstTransport.open(service.url, chain.chainId, request)) {
    expect(message).toMatchObject({ type: 'done', round: 1, asked: 3, quoted: 0, declined: 3 })
    expect(Object.keys(message)).not.toContain('bestOrderId')
    expect(Object.keys(message)).not.toContain('expiresAt')
    break
  }
})

it('a stream counts as one quote and as one opened stream', async () => {
  const limited = await startService(chain, { RATE_LIMIT_QUOTE: '2', RATE_LIMIT_STREAMS: '3' })
  const path = `/v1/${chain.chainId}/quote/stream`
  const ask = () => limited.post(path, quoteRequest(chain))
  const first = await ask()
  expect([first.status, first.headers.get('ratelimit-limit')]).toEqual([200, '2'])
  await limited.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  const refused = await ask()
  expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED'])
  await ask()
  expect((await ask()).headers.get('ratelimit-limit')).toBe('3')
  await limited.close()
})

it('streams of quotes and of events share the places of a client', async () => {
  const limited = await startService(chain, { MAX_STREAM_CLIENTS_PER_IP: '1' })
  await solvers[0]?.register(limited)
  const leaving = new AbortController()
  const events = await fetch(`${limited.url}/v1/events`, { signal: leaving.signal })
  expect(events.status).toBe(200)
  const error = await errorOf(firstTransport.open(limited.url, chain.chainId, quoteRequest(chain)))
  expect(error).toMatchObject({ reason: 'STREAM_LIMIT_REACHED', status: 503 })
  leaving.abort()
  await limited.close()
})
