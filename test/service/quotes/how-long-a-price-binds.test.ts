import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest } from '../../support/solvers/solver.js'
import { type QuoteTransport, quoteTransports, readAll } from '../../support/streams/quote-stream-clients.js'

/** Later than each block, so that deadlines count from the clock. */
const START_MS = Math.ceil(Date.now() / 1000) * 1000 + 120_000
const START = START_MS / 1000

let nowMs = START_MS
const { chain, service, solvers, ask } = await startScene({
  solvers: ['Whole', 'Short'],
  environment: { PRICE_CACHE_MS: '0' },
  overrides: { clock: { ...systemClock, now: () => nowMs } },
})
/** The first one binds for the whole window, and offers less. */
const [whole, short] = solvers

beforeEach(() => {
  nowMs = START_MS
  whole.behave(honest({ output: '2000' }))
  short.behave(bindingFor(60))
  for (const { asks } of [whole, short]) asks.length = 0
})

/** Offers more, and binds for so many seconds. */
function bindingFor(seconds: number): Behaviour {
  return async (ask, { quoteFor, sign }) => {
    const depositDeadline = START + seconds
    const deadlines = { depositDeadline, fillDeadline: depositDeadline + 120 }
    return sign({ ...quoteFor(ask), outputAmount: '3000', ...deadlines })
  }
}

/** The deposit deadline of each offer from the start of the test, best first, and why the one for less was dropped. */
async function offers(changes: object = {}) {
  const { status, body } = await ask(changes)
  expect(status).toBe(200)
  const { body: record } = await service.get(`/v1/${chain.chainId}/quote/${body.quoteId}`)
  const dropped = record.solvers.find(({ solver }: { solver: string }) => solver === short.account.address)
  return {
    seconds: [body, ...body.alternativeQuotes].map(({ quote }) => quote.depositDeadline - START),
    amounts: [body, ...body.alternativeQuotes].map(({ quote }) => quote.outputAmount),
    expiresAt: body.expiresAt as number,
    reason: dropped?.reason as string | undefined,
    record,
  }
}

it('a price for a deposit address binds for the whole window, and an earlier offer is dropped by name', async () => {
  const changes = { minDepositWindow: 60, depositMode: 'ADDRESS' }
  expect(await offers(changes)).toMatchObject({ seconds: [300], reason: 'deposit_deadline_mismatch' })
})

describe('with 60 of 300 seconds', () => {
  it('solvers are told, and the one that binds for less wins by its amount', async () => {
    const { seconds, amounts, expiresAt, record } = await offers({ minDepositWindow: 60 })
    expect([seconds, amounts]).toEqual([
      [60, 300],
      ['3000', '2000'],
    ])
    expect(expiresAt).toBe(START_MS + 60_000)
    for (const { asks } of [whole, short])
      expect(asks).toMatchObject([{ depositDeadline: START + 300, minDepositDeadline: START + 60 }])
    expect(record.request).toMatchObject({ depositDeadline: START + 300, minDepositDeadline: START + 60 })
  })

  it('a price is that of the quote', async () => {
    const { amount, inputToken, outputToken, orderType } = quoteRequest(chain)
    const price = async (changes: object) => {
      const swap = { amount, inputToken, outputToken, orderType, ...changes }
      return (await service.post(`/v1/${chain.chainId}/price`, swap)).body.best?.outputAmount
    }
    expect([await price({}), await price({ minDepositWindow: 60 })]).toEqual(['2000', '3000'])
    expect(short.asks).toMatchObject([{}, { minDepositDeadline: START + 60 }])
    expect(await price({ minDepositWindow: 301 })).toBeUndefined()
  })
})

describe('an answer never has an earlier offer with less than 20 s left', () => {
  const read = () => service.metric('aggregator_quote_stage_duration_seconds_count', { stage: 'verify' })

  /** Has the round go on until so many seconds have passed after the earlier offer was read. */
  async function slowRound(seconds: number): Promise<void> {
    const before = await read()
    short.behave(bindingFor(30))
    whole.behave(async (...exchange) => {
      await eventually(read, (count) => count > before)
      nowMs = START_MS + seconds * 1000
      return honest({ output: '2000' })(...exchange)
    })
  }

  it('when its round was slow', async () => {
    await slowRound(10)
    expect((await offers({ minDepositWindow: 30 })).seconds).toEqual([30, 300])
    nowMs = START_MS
    await slowRound(11)
    expect(await offers({ minDepositWindow: 30 })).toMatchObject({
      seconds: [300],
      reason: 'deposit_deadline_mismatch',
    })
  })

  it('nor has a stream, whose last message is the best of its answer', async () => {
    const [{ open }] = quoteTransports as readonly [QuoteTransport]
    await slowRound(11)
    const changes = { ...quoteRequest(chain), minDepositWindow: 30 }
    const messages = await readAll(open(service.url, chain.chainId, changes))
    const amounts = messages.map(({ type, quote }) => [type, quote?.outputAmount])
    expect(amounts).toEqual([
      ['quote', '3000'],
      ['quote', '2000'],
      ['done', undefined],
    ])
    expect(messages[2]?.bestOrderId).toBe(messages[1]?.orderId)
  })
})
