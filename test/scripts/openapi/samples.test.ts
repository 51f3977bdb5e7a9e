import { describe, expect, test } from 'vitest'
import { ORDER_TYPES, type Quote } from '../../../packages/protocol/src/quotes/quote.js'
import { checkSignature, personalMessageDigest } from '../../../packages/protocol/src/signing/signatures.js'
import {
  createQuoteHasher,
  toCachedChecksumAddress,
} from '../../../packages/protocol/src/signing/typed-data.js'
import { registrationMessage } from '../../../packages/protocol/src/solvers/registration-messages.js'
import { examples } from '../../../scripts/openapi/contract.js'
import type { Document } from '../../support/openapi/document.js'

const { events, exchanges, settlement } = examples

/** The parts of a real run that belong together. */
const sample = (of: string): { request: Document; path: Document; body: Document } => {
  const found = exchanges.find((exchange) => exchange.of === of && exchange.status === 200)
  return { request: found?.requestBody, path: found?.path, body: found?.body }
}
const quoted = sample('POST /v1/{chainId}/quote')
const signatureOf = (text: string) => Buffer.from(text.slice(2), 'hex')

describe('the sample quote', () => {
  const { quote, solverSignature, orderId, depositAddress } = quoted.body
  const [inputAmount, outputAmount] = [BigInt(quote.inputAmount), BigInt(quote.outputAmount)]
  const struct: Quote = {
    ...quote,
    inputAmount,
    outputAmount,
    orderType: ORDER_TYPES[quote.orderType],
    nonce: BigInt(quote.nonce),
  }
  const hasher = createQuoteHasher('Service', settlement)
  const { structHash, digest } = hasher.hash(struct)

  test('is signed by its solver', () => {
    expect(checkSignature(digest, signatureOf(solverSignature), quote.solver.toLowerCase())).toBeUndefined()
  })

  test('has the order id and the deposit address of its quote', () => {
    const identity = hasher.identify(structHash, signatureOf(solverSignature))
    expect(orderId).toBe(identity.orderId)
    expect(depositAddress).toBe(toCachedChecksumAddress(identity.depositAddress))
  })

  test('belongs to the sample order and the sample events', () => {
    const order = sample('GET /v1/{chainId}/order/{orderId}')
    expect([order.path.orderId, order.body.orderId, order.body.state]).toEqual([orderId, orderId, 'SETTLED'])
    for (const type of ['Deposited', 'Settled', 'Reverted'])
      expect(events.find((event) => event.type === type)).toMatchObject({ orderId })
  })
})

test('the sample registration is signed by its solver', () => {
  const { request } = sample('POST /v1/{chainId}/solvers/register')
  const digest = personalMessageDigest(registrationMessage('Service', request))
  expect(
    checkSignature(digest, signatureOf(request.signature), request.address.toLowerCase()),
  ).toBeUndefined()
})
