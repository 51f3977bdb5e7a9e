import { expect, it } from 'vitest'
import { importHooks, page, queries, shown } from './mocked-page.js'

const CHAIN_ID = 31337
const TOKEN = `0x${'ab'.repeat(20)}`
const hooks = await importHooks()

it('an offer that is checked keeps the answer on the last one meanwhile, and no offer has one', () => {
  hooks.useOfferCheck({ offer: { orderId: '0x12' }, params: { chainId: CHAIN_ID }, limits: {} }, TOKEN)
  expect(page.query.placeholderData(true)).toBe(true)
  hooks.useOfferCheck(undefined, TOKEN)
  expect(page.query.placeholderData(true)).toBeUndefined()
})

it.each([
  ['AMOUNT_TOO_SMALL', ['UNSUPPORTED_PAIR', undefined, 'AMOUNT_TOO_SMALL']],
  [undefined, [undefined, 'PAUSED', 'REVERTED']],
])('a round without offers says why: %s', async (expected, codes) => {
  shown.length = 0
  const counts = { asked: 3, quoted: 0, declined: 3, invalid: 0, failed: 0, late: 0 }
  const end = { type: 'done', quoteId: 'a', round: 1, best: undefined, alternatives: [], ...counts }
  const leaving = new AbortController()
  page.aggregator = {
    async *streamQuotes() {
      yield end
      leaving.abort()
    },
    getQuoteRecord: async () => ({ solvers: codes.map((declineCode) => ({ declineCode })) }),
  }
  hooks.useQuotes({ chainId: CHAIN_ID, inputToken: TOKEN, outputToken: TOKEN })
  await page.query.queryFn({ client: queries, signal: leaving.signal })
  expect(shown).toMatchObject([{ best: undefined, answered: 3, declineCode: expected }])
})
