import { createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { DepositMode, OrderType, QuoteService, VerifyMode } from '../../../gen/aggregator/v1/quote_pb.js'
import {
  marksOf,
  startVerifyingService,
  type VerifyingService,
} from '../../support/service/verifying-service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

let on: VerifyingService

beforeAll(async () => {
  on = await startVerifyingService()
})
afterAll(() => on?.close())
beforeEach(() => on.reset())

/** @param timeoutMs the caller's own deadline */
async function ask({ url } = on.service, timeoutMs = 1000) {
  const client = createClient(QuoteService, createGrpcTransport({ baseUrl: url }))
  const chainId = BigInt(on.chain.chainId)
  const request = {
    ...quoteRequest(on.chain),
    ...{ chainId, originChainId: chainId, destinationChainId: chainId },
    orderType: OrderType.EXACT_INPUT,
    depositMode: DepositMode.CONTRACT,
    verify: VerifyMode.BEST,
  }
  return marksOf(await client.getQuote(request, { timeoutMs }))
}

it('a caller whose deadline is shorter than VERIFY_TIMEOUT_MS gets the offers without marks before it', async () => {
  const release = on.holdVerifications()
  expect((await ask()).map(([, mark]) => mark)).toEqual([undefined, undefined, undefined])
  release()
})

it('a silent solver leaves a caller with a deadline the time in which the contract checks the offers', async () => {
  const service = await on.start({ VERIFY_TIMEOUT_MS: '300' })
  on.solvers[2]?.behave(() => new Promise(() => {}))
  expect(await ask(service)).toEqual([
    ['3000', true],
    ['2000', undefined],
  ])
})
