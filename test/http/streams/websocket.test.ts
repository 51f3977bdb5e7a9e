import { create } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { StreamEventsResponseSchema } from '../../../gen/aggregator/v1/event_pb.js'
import type {
  Deposited,
  OrderEventType,
  Refunded,
  Settled,
  StreamEvent,
} from '../../../packages/protocol/src/orders/event.js'
import { toEventJson } from '../../../src/http/streams/event-json.js'
import {
  toConnectedMessage,
  toEventMessage,
  toHeartbeatMessage,
} from '../../../src/rpc/convert/convert-events.js'

const CURSOR = 'a-Log_1.7'
const MAX = 2n ** 256n - 1n
const ORDER_ID = `0x${'0a'.repeat(32)}` as const
// The examples of EIP-55.
const USER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const SOLVER = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'
const INPUT_TOKEN = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB'
const OUTPUT_TOKEN = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb'

const TRANSACTION_HASH = `0x${'7a'.repeat(32)}` as const
/** The position of an event as JSON, but without its block. */
const POSITION = `"transactionHash":"${TRANSACTION_HASH}","logIndex":4294967295,"blockTime":9007199254740991`

function lower(address: string): `0x${string}` {
  return address.toLowerCase() as `0x${string}`
}

const base = {
  chainId: 8453,
  orderId: ORDER_ID,
  user: lower(USER),
  solver: lower(SOLVER),
  blockNumber: 9_007_199_254_740_991,
  logIndex: 4_294_967_295,
  transactionHash: TRANSACTION_HASH,
  blockTime: 9_007_199_254_740_991,
} as const
const deposited: Deposited = {
  type: 'Deposited',
  ...base,
  inputToken: lower(INPUT_TOKEN),
  inputAmount: MAX,
  outputToken: lower(OUTPUT_TOKEN),
  outputAmount: 0n,
  fillDeadline: 4_294_967_295,
}
const settled: Settled = { type: 'Settled', ...base }
const refunded: Refunded = { type: 'Refunded', ...base, inputAmount: 10n ** 21n, bondSlashed: 50_000_000n }

function jsonOf(event: StreamEvent): string {
  return toEventJson(toEventMessage({ sequence: 7, event, cursor: CURSOR }))
}

describe('a message has exactly the form of the protocol, with its cursor at the end:', () => {
  test('connected', () => {
    expect(toEventJson(toConnectedMessage([1, 8453], CURSOR))).toBe(
      `{"type":"connected","supportedChains":[1,8453],"cursor":"${CURSOR}"}`,
    )
  })

  test('heartbeat', () => {
    expect(toEventJson(toHeartbeatMessage(CURSOR))).toBe(`{"type":"Heartbeat","cursor":"${CURSOR}"}`)
  })

  test('Deposited', () => {
    expect(jsonOf(deposited)).toBe(
      `{"type":"Deposited","chainId":8453,"orderId":"${ORDER_ID}","user":"${USER}","solver":"${SOLVER}",` +
        `"inputToken":"${INPUT_TOKEN}","inputAmount":"${MAX}","outputToken":"${OUTPUT_TOKEN}",` +
        `"outputAmount":"0","fillDeadline":4294967295,"blockNumber":9007199254740991,${POSITION},"cursor":"${CURSOR}"}`,
    )
  })

  test('Settled', () => {
    expect(jsonOf(settled)).toBe(
      `{"type":"Settled","chainId":8453,"orderId":"${ORDER_ID}","blockNumber":9007199254740991,` +
        `"user":"${USER}","solver":"${SOLVER}",${POSITION},"cursor":"${CURSOR}"}`,
    )
  })

  test('Refunded', () => {
    expect(jsonOf(refunded)).toBe(
      `{"type":"Refunded","chainId":8453,"orderId":"${ORDER_ID}","user":"${USER}",` +
        `"inputAmount":"1000000000000000000000","bondSlashed":"50000000",` +
        `"blockNumber":9007199254740991,${POSITION},"cursor":"${CURSOR}"}`,
    )
  })

  test.each<OrderEventType>(['Deposited', 'Settled', 'Refunded'])('Reverted, of %s', (event) => {
    expect(jsonOf({ type: 'Reverted', ...base, event })).toBe(
      `{"type":"Reverted","chainId":8453,"orderId":"${ORDER_ID}","event":"${event}",` +
        `"blockNumber":9007199254740991,${POSITION},"cursor":"${CURSOR}"}`,
    )
  })
})

test('an unknown solver is empty', () => {
  expect(JSON.parse(jsonOf({ ...deposited, solver: undefined }))).toMatchObject({ solver: '' })
})

test('an entry becomes one message for all subscribers', () => {
  const entry = { sequence: 7, event: settled, cursor: CURSOR }
  expect(toEventMessage(entry)).toBe(toEventMessage(entry))
  expect(toEventMessage({ ...entry })).not.toBe(toEventMessage(entry))
})

test('a message without an event is an error', () => {
  expect(() => toEventJson(create(StreamEventsResponseSchema, { cursor: CURSOR }))).toThrow(
    'the message has no event',
  )
})
