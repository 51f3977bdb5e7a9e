import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { VerifyMode } from '../../../packages/protocol/src/quotes/verification.js'
import {
  marksOf,
  startVerifyingService,
  type VerifyingService,
} from '../../support/service/verifying-service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import {
  errorOf,
  type QuoteMessage,
  quoteTransports,
  readAll,
} from '../../support/streams/quote-stream-clients.js'

let on: VerifyingService

describe.each(quoteTransports)('a stream over $name', ({ open }) => {
  // A service of its own: many checks in a second would use up what a chain has for other than best offers.
  beforeAll(async () => {
    on = await startVerifyingService()
  })
  afterAll(() => on?.close())
  beforeEach(() => on.reset())

  const stream = (verify: VerifyMode) =>
    open(on.service.url, on.chain.chainId, { ...quoteRequest(on.chain), verify })

  it.each<[VerifyMode, number]>([
    ['best', 0],
    ['best', 1],
    ['all', 0],
    ['all', 2],
  ])(
    'with verify %s and %i refused offers has in its last messages what GetQuote returns',
    async (verify, refused) => {
      on.behave({ refused })
      const messages = await readAll(stream(verify))
      const last = messages.findLast(({ type }) => type === 'quote')
      const { body } = await on.ask({ verify })
      const done: Partial<QuoteMessage> = messages.at(-1) ?? {}
      expect(marksOf({ ...last, alternativeQuotes: done.alternativeQuotes })).toEqual(marksOf(body))
      expect(last).toMatchObject({ verified: true, orderId: done.bestOrderId })
      expect(done).toMatchObject({ type: 'done', asked: 3, quoted: 3 - refused, invalid: refused })
    },
  )

  it('sends the next offer when the contract refuses the best one', async () => {
    on.behave({ refused: 1 })
    const release = on.holdVerifications()
    const messages = stream('best')[Symbol.asyncIterator]()
    const seen = []
    do seen.push((await messages.next()).value)
    while (seen.at(-1)?.quote.outputAmount !== '3000')
    release()
    expect(seen.at(-1)).not.toHaveProperty('verified')
    for await (const message of { [Symbol.asyncIterator]: () => messages }) seen.push(message)
    const [next, done] = seen.slice(-2)
    expect(next).toMatchObject({
      type: 'quote',
      quote: { outputAmount: '2000' },
      answered: 3,
      verified: true,
    })
    expect(done).toMatchObject({ type: 'done', bestOrderId: next?.orderId })
  })

  it('ends with NO_QUOTES when the contract refuses all offers', async () => {
    on.behave({ refused: 3 })
    const { reason, quoteId } = await errorOf(stream('best'))
    expect(reason).toBe('NO_QUOTES')
    expect((await on.service.get(`/v1/${on.chain.chainId}/quote/${quoteId}`)).body.outcome).toBe('NO_QUOTES')
  })
})
