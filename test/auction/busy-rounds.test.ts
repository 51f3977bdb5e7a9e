import { expect, test, vi } from 'vitest'
import { createAuction } from '../../src/auction/auction.js'
import { createQuoteIds } from '../../src/auction/quote-ids.js'
import { THIS_PROCESS } from '../../src/clients/client-id.js'
import { Standings } from '../../src/standing/standing.js'
import { exactInput } from '../support/solvers/sample-quotes.js'
import { contextOf } from './context.js'
import { offer, openSessionAuction } from './session-auction.js'

const START_MS = 4

test.each([
  ['QUOTE_TIMEOUT_MS', {}, 100],
  ['the time of its caller', { timeoutMs: 100 }, 40],
])('a round that cannot begin within half of %s asks nobody', async (_what, options, halfMs) => {
  const { asked, quote, counted } = openSessionAuction([offer], { startMs: START_MS })
  const answers = await Promise.all(Array.from({ length: 40 }, () => quote({}, undefined, options)))
  const started = asked[0]?.length ?? 0
  expect(started * START_MS).toBeGreaterThanOrEqual(halfMs)
  expect((started - 4) * START_MS).toBeLessThan(halfMs)
  const refused = answers.filter(({ error }) => error?.reason === 'SOLVERS_BUSY')
  expect(refused[0]?.error?.message).toMatch(/^More quotes wait than can be served in time: try again in 1 s/)
  expect(await counted('overloaded')).toBe(refused.length)
  expect(started + refused.length).toBe(40)
})

test('a round that finds all connections in use is rejected at once, with a time to retry', async () => {
  const onUnstarted = vi.fn()
  const context = contextOf({})
  const auction = createAuction(context, {
    choice: {
      of: () => ({ asked: [], busy: 1, notAsked: 0 }),
      notAskedReason: () => undefined,
    },
    standings: new Standings(context.clock.monotonic, context.log),
    http: { requestQuote: () => expect.fail('it asks a solver') },
    quoteIds: createQuoteIds(Buffer.alloc(16)),
    sinks: [{ onUnstarted }],
  })
  const call = { client: THIS_PROCESS, signal: new AbortController().signal, timeoutMs: undefined }
  const { error } = await auction.runRound(exactInput, call)
  expect(error).toMatchObject({
    reason: 'SOLVERS_BUSY',
    message: 'All connections to solvers are in use: try again in 1 s.',
    retryAfterSeconds: 1,
  })
  expect(onUnstarted).toHaveBeenCalledExactlyOnceWith(exactInput, 'busy')
})
