import { create } from '@bufbuild/protobuf'
import { describe, expect, it } from 'vitest'
import {
  GetQuoteRequestSchema,
  OrderType,
  StreamQuotesRequestSchema,
  VerifyMode,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { QUOTE_OPTION_RULES, type QuoteOptions } from '../../../packages/protocol/src/field-rules.js'
import { Fields } from '../../../src/rpc/fields.js'
import type { ServiceContext } from '../../../src/rpc/services/context.js'
import { createReadQuote } from '../../../src/rpc/services/quote-service.js'
import { only } from '../../support/only.js'

/** For each field that a request may leave out, a value that is not the default of `readQuote`, and one that is refused. */
const SAMPLES: Record<keyof QuoteOptions, { valid: unknown; invalid: unknown }> = {
  depositWindow: { valid: 60, invalid: 0 },
  softDeadlineMs: { valid: 100, invalid: 2001 },
  minQuotes: { valid: 2, invalid: 0 },
  verify: { valid: VerifyMode.BEST, invalid: VerifyMode.ALL },
  minDepositWindow: { valid: 60, invalid: 29 },
}

const config = {
  quoteTimeoutMs: 2000,
  defaultDepositWindowSeconds: 300,
  defaultFillWindowSeconds: 120,
  verifyQuotes: 'off',
  verifyMax: 'best',
  chains: [],
}
const readQuote = createReadQuote(only<ServiceContext>({ config, deadlineTime: () => 0 }), 500)

/** Reads a request with one option. @returns what a round gets of it, and the fields that are refused */
function read(option: Record<string, unknown>) {
  const fields = new Fields([])
  const message = create(GetQuoteRequestSchema, { orderType: OrderType.EXACT_INPUT, amount: '1', ...option })
  const { roundOptions, toRequest } = readQuote(message, fields)
  return {
    round: { roundOptions, request: toRequest() },
    refused: fields.violations.map(({ field }) => field),
  }
}

/** The fields that every request has, and the one that only adds to the answer. */
const SWAP = ['chainId', 'inputToken', 'outputToken', 'orderType', 'amount', 'userAddress', 'originChainId']
const OTHERS = [...SWAP, 'destinationChainId', 'depositMode', 'includeCalls']

describe('an option of a quote request', () => {
  it.each([
    [GetQuoteRequestSchema, OTHERS],
    [StreamQuotesRequestSchema, [...OTHERS, 'refreshSeconds']],
  ])('has a rule and a sample here: %s', (schema, others) => {
    const options = schema.fields.map(({ jsonName }) => jsonName).filter((name) => !others.includes(name))
    expect(options).toEqual(Object.keys(QUOTE_OPTION_RULES))
    expect(options).toEqual(Object.keys(SAMPLES))
  })

  it.each(Object.entries(SAMPLES))('%s is checked, and reaches the round', (name, { valid, invalid }) => {
    const plain = read({})
    expect(read({ [name]: invalid }).refused).toEqual([...plain.refused, name])
    const given = read({ [name]: valid })
    expect(given.refused).toEqual(plain.refused)
    expect(given.round).not.toEqual(plain.round)
  })
})
