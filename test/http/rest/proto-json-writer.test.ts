import { create } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { ConnectedSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { GetOrderResponseSchema, OrderState } from '../../../gen/aggregator/v1/order_pb.js'
import { GetQuoteResponseSchema, QuoteSchema } from '../../../gen/aggregator/v1/quote_pb.js'
import { ListSolversResponseSchema } from '../../../gen/aggregator/v1/solver_pb.js'
import { compileJsonWriter } from '../../../src/http/rest/proto-json.js'

const quote = {
  solver: '0xA',
  user: '0xB',
  inputToken: '0xC',
  inputAmount: '1000',
  outputToken: '0xD',
  outputAmount: '3000',
  orderType: 0,
  outputChainId: 8453n,
  depositDeadline: 1_800_000_300,
  fillDeadline: 1_800_000_420,
  nonce: '7',
}
const signed = { solverSignature: '0x01', depositAddress: '0xE', orderId: '0x02' }

test('the writer writes a whole response with nested messages, in the order of its fields', () => {
  const write = compileJsonWriter(GetQuoteResponseSchema)
  const message = create(GetQuoteResponseSchema, {
    quote,
    ...signed,
    alternativeQuotes: [{ quote, ...signed, expiresAt: 1_800_000_300_000n }],
    quoteId: '9',
    expiresAt: 1_800_000_300_000n,
    serverTime: 1n,
  })
  const quoteText =
    '{"solver":"0xA","user":"0xB","inputToken":"0xC","inputAmount":"1000","outputToken":"0xD",' +
    '"outputAmount":"3000","orderType":0,"outputChainId":8453,"depositDeadline":1800000300,' +
    '"fillDeadline":1800000420,"nonce":"7"}'
  const signedText = `"quote":${quoteText},"solverSignature":"0x01","depositAddress":"0xE","orderId":"0x02"`
  const expiry = '"expiresAt":1800000300000'
  expect(JSON.stringify(write(message))).toBe(
    `{${signedText},"alternativeQuotes":[{${signedText},${expiry}}],"quoteId":"9",${expiry},"serverTime":1}`,
  )
})

test('zero values are present', () => {
  expect(compileJsonWriter(QuoteSchema)(create(QuoteSchema))).toEqual({
    solver: '',
    user: '',
    inputToken: '',
    inputAmount: '',
    outputToken: '',
    outputAmount: '',
    orderType: 0,
    outputChainId: 0,
    depositDeadline: 0,
    fillDeadline: 0,
    nonce: '',
  })
  expect(compileJsonWriter(ListSolversResponseSchema)(create(ListSolversResponseSchema))).toEqual({
    solvers: [],
  })
})

test('unset optional fields are absent', () => {
  const write = compileJsonWriter(GetOrderResponseSchema)
  const unknown = create(GetOrderResponseSchema, { orderId: '0x02', chainId: 1n, state: OrderState.NONE })
  expect(Object.entries(write(unknown))).toEqual([
    ['orderId', '0x02'],
    ['chainId', 1],
    ['state', 'NONE'],
  ])
})

test('optional fields with their zero value are present', () => {
  const write = compileJsonWriter(GetOrderResponseSchema)
  const message = create(GetOrderResponseSchema, { user: '', outputChainId: 0n, fillDeadline: 0 })
  expect(write(message)).toMatchObject({ user: '', outputChainId: 0, fillDeadline: 0 })
})

test('a message that is not set is absent', () => {
  expect(compileJsonWriter(GetQuoteResponseSchema)(create(GetQuoteResponseSchema))).not.toHaveProperty(
    'quote',
  )
})

test('lists are written item by item, in their order, and are present when empty', () => {
  const write = compileJsonWriter(ConnectedSchema)
  const supportedChains = [8453n, 1n, 9_007_199_254_740_991n]
  expect(write(create(ConnectedSchema, { supportedChains }))).toStrictEqual({
    supportedChains: [8453, 1, 9_007_199_254_740_991],
  })
  expect(write(create(ConnectedSchema))).toStrictEqual({ supportedChains: [] })
})
