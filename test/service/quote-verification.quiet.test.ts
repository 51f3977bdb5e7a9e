import { createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { DepositMode, OrderType, QuoteService, VerifyMode } from '../../gen/aggregator/v1/quote_pb.js'
import {
  marksOf,
  startVerifyingService,
  type VerifyingService,
} from '../support/service/verifying-service.js'
import { quoteRequest } from '../support/solvers/quote-request.js'

let on: VerifyingService

beforeAll(async () => {
  on = await startVerifyingService()
})
afterAll(() => on?.close())
beforeEach(() => on.reset())

it('a caller whose deadline is shorter than VERIFY_TIMEOUT_MS gets the offers without marks before it', async () => {
  const release = on.holdVerifications()
  const client = createClient(QuoteService, createGrpcTransport({ baseUrl: on.service.url }))
  const chainId = BigInt(on.chain.chainId)
  const response = await client.getQuote(
    {
      ...quoteRequest(on.chain),
      ...{ chainId, originChainId: chainId, destinationChainId: chainId },
      orderType: OrderType.EXACT_INPUT,
      depositMode: DepositMode.CONTRACT,
      verify: VerifyMode.BEST,
    },
    { timeoutMs: 1000 },
  )
  expect(marksOf(response).map(([, mark]) => mark)).toEqual([undefined, undefined, undefined])
  release()
})
