import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { VerifyMode } from '../../../packages/protocol/src/quotes/verification.js'
import { startVerifyingService, type VerifyingService } from '../../support/service/verifying-service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { quoteTransports } from '../../support/streams/quote-stream-clients.js'

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
})
