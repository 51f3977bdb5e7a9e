import { create } from '@bufbuild/protobuf'
import { createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { beforeEach, expect, it } from 'vitest'
import {
  DepositMode,
  GetQuoteRequestSchema,
  OrderType,
  QuoteService,
  VerifyMode,
} from '../../../gen/aggregator/v1/quote_pb.js'
import type { VerifyMode as Mode } from '../../../packages/protocol/src/quotes/verification.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { marksOf, startVerifyingService } from './verifying-service.js'

const on = await shared(startVerifyingService())

beforeEach(() => on.reset())

function overRpc(transportTo: (baseUrl: string) => Transport) {
  return (verify: Mode) => {
    const request = create(GetQuoteRequestSchema, {
      ...quoteRequest(on.chain),
      chainId: BigInt(on.chain.chainId),
      originChainId: BigInt(on.chain.chainId),
      destinationChainId: BigInt(on.chain.chainId),
      orderType: OrderType.EXACT_INPUT,
      depositMode: DepositMode.CONTRACT,
      verify: VerifyMode[verify.toUpperCase() as 'BEST'],
    })
    return createClient(QuoteService, transportTo(on.service.url)).getQuote(request)
  }
}

const protocols: [string, (verify: Mode) => Promise<unknown>][] = [
  ['REST', async (verify) => (await on.ask({ verify })).body],
  ['gRPC', overRpc((baseUrl) => createGrpcTransport({ baseUrl }))],
  ['gRPC-Web', overRpc((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }))],
  ['Connect', overRpc((baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1' }))],
]

it.each(protocols)(
  'a quote over %s has no offer that the contract refuses, and verifies the next one',
  async (_name, getQuote) => {
    on.behave({ refused: 1 })
    expect(marksOf(await getQuote('best'))).toEqual([
      ['2000', true],
      ['1000', undefined],
    ])
  },
)

it('the record has the marks, and the errors as reasons', async () => {
  on.behave({ refused: 1 })
  const { quoteId } = (await on.ask({ verify: 'best' })).body
  const record = (await on.service.get(`/v1/${on.chain.chainId}/quote/${quoteId}`)).body
  expect(record.bestAmount).toBe('2000')
  expect(record.solvers).toMatchObject([
    { outcome: 'QUOTED', rank: 1, verified: true },
    { outcome: 'QUOTED', rank: 2 },
    { outcome: 'INVALID', reason: 'NonceAlreadyUsed', outputAmount: '3000' },
  ])
  expect(record.solvers.map((solver: object) => 'verified' in solver)).toEqual([true, false, false])
  expect(record.solvers[2].explanation).toContain('refused the offer with the error NonceAlreadyUsed')
})

it('a dropped offer counts as an offer of its solver', async () => {
  on.behave({ refused: 1 })
  const solver = on.solvers[0]?.account.address.toLowerCase() ?? ''
  const read = async () => ({
    quoted: await on.service.metric('aggregator_solver_outcomes_total', { solver, outcome: 'quoted' }),
    all: await on.service.metric('aggregator_solver_outcomes_total', { solver }),
    replies: await on.service.metric('aggregator_solver_replies_total', { outcome: 'quoted' }),
    invalid: await on.service.metric('aggregator_solver_replies_total', { outcome: 'invalid' }),
    open: await on.service.metric('aggregator_solver_circuit_open', { solver }),
  })
  const before = await read()
  expect(before).toMatchObject({ open: 0 })
  for (let round = 0; round < 10; round++) await on.ask({ verify: 'best' })
  expect(await read()).toEqual({
    ...before,
    quoted: before.quoted + 10,
    all: before.all + 10,
    replies: before.replies + 30,
  })
})

it('a price is never verified', async () => {
  const verifying = await on.start({ VERIFY_QUOTES: 'all' })
  const { inputToken, outputToken, orderType, amount } = quoteRequest(on.chain)
  const price = { inputToken, outputToken, orderType, amount }
  expect((await verifying.post(`/v1/${on.chain.chainId}/price`, price)).body.offers).toBe(3)
  expect(on.verifications()).toBe(0)
  expect(marksOf((await on.ask({}, verifying)).body).map(([, mark]) => mark)).toEqual([true, true, true])
  expect(marksOf((await on.ask({ verify: 'off' }, verifying)).body).map(([, mark]) => mark)).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
