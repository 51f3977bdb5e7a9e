import { describe, expect, test } from 'vitest'
import { checkOffer } from '../../../packages/protocol/src/quotes/offer.js'
import type { QuoteRequest } from '../../../packages/protocol/src/quotes/quote.js'
import { toRequestBody } from '../../../packages/protocol/src/signing/quote-request.js'
import { generatedDocument, readDocument } from '../../support/openapi/document.js'

const document = generatedDocument('openapi.json')
const { post } = document.webhooks.requestQuote
const read = readDocument(document)
const PLACE = ['webhooks', 'requestQuote', 'post']
const CONTENT = ['content', 'application/json', 'schema']
const request = post.requestBody.content['application/json'].example
const reply = post.responses[200].content['application/json'].examples.sample.value

/** The example as the service has it before it writes the request. */
const { userAddress, amount, ...rest } = request
const asked: QuoteRequest = {
  ...rest,
  inputToken: rest.inputToken.toLowerCase(),
  outputToken: rest.outputToken.toLowerCase(),
  user: userAddress.toLowerCase(),
  amount: BigInt(amount),
}

describe('the webhook of solvers', () => {
  test('describes the request that solvers get', () => {
    const sent = toRequestBody(asked)
    expect(read.problems([...PLACE, 'requestBody', ...CONTENT], sent)).toEqual([])
    expect(request).toEqual(sent)
  })

  test('has a reply that the service accepts for that request', () => {
    expect(read.problems([...PLACE, 'responses', 200, ...CONTENT], reply)).toEqual([])
    const offer = checkOffer(asked, reply.quote.solver.toLowerCase(), reply)
    expect(offer).toMatchObject({ signature: reply.signature })
  })
})
