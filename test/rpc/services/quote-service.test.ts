import { create } from '@bufbuild/protobuf'
import { describe, expect, it } from 'vitest'
import {
  type GetQuoteRequest,
  GetQuoteRequestSchema,
  OrderType,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { Fields } from '../../../src/rpc/services/fields.js'
import { createReadQuote } from '../../../src/rpc/services/quote-service.js'

type Fixed = Partial<Pick<GetQuoteRequest, 'chainId' | 'originChainId' | 'softDeadlineMs' | 'minQuotes'>>

/** Reads some fields. @returns what a round gets of the fields about waiting, or the violations of the given ones */
function read(given: Fixed, quoteSoftTimeoutMs = 500) {
  const readQuote = createReadQuote({
    quoteTimeoutMs: 2000,
    quoteSoftTimeoutMs,
    defaultDepositWindowSeconds: 300,
    defaultFillWindowSeconds: 120,
    verifyQuotes: 'off',
    verifyMax: 'best',
    chains: [],
    now: () => 0,
  })
  const fields = new Fields([])
  const message = create(GetQuoteRequestSchema, { orderType: OrderType.EXACT_INPUT, ...given })
  const { roundOptions } = readQuote(message, fields)
  const violations = fields.violations.filter(({ field }) => field in given)
  return violations.length > 0 ? violations : roundOptions.softDeadline
}

describe('the soft deadline of a quote', () => {
  it("is the instance's own by default", () => {
    expect(read({})).toEqual({ afterMs: 500, minQuotes: 1, isOwn: true })
    expect(read({ minQuotes: 3 })).toEqual({ afterMs: 500, minQuotes: 3, isOwn: true })
    expect(read({}, 0)).toBeUndefined()
  })

  it("is replaced by the caller's, of which 0 turns it off", () => {
    expect(read({ softDeadlineMs: 500 })).toEqual({ afterMs: 500, minQuotes: 1, isOwn: false })
    expect(read({ softDeadlineMs: 0 })).toBeUndefined()
  })

  it.each([
    [{ softDeadlineMs: 2001 }, 'softDeadlineMs', 'must be an integer of 0 to 2000'],
    [{ softDeadlineMs: 0, minQuotes: 1 }, 'minQuotes', 'must be left out without softDeadlineMs'],
  ])('rejects %o', (waiting, field, message) => {
    expect(read(waiting)).toContainEqual(expect.objectContaining({ field, message }))
  })
})

it.each([9n, 11n])('the chain of the input, %s, must be that of the request', (originChainId) => {
  const message = 'must equal the chain of the request, 10'
  expect(read({ chainId: 10n, originChainId })).toEqual([
    expect.objectContaining({ field: 'originChainId', message }),
  ])
  expect(read({ chainId: 10n, originChainId: 10n })).not.toEqual(expect.any(Array))
})
