import { ConnectError, createClient } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { describe, expect, it } from 'vitest'
import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { BadRequestSchema, ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

const chain = await shared(startModelChain({ bonded: 0 }))
const service = await shared(startService(chain))

describe('a request with bad fields gets every bad field and what it must be', () => {
  const bad = {
    inputToken: '0x12',
    orderType: 'EXACT',
    amount: '-1',
    userAddress: 7,
    originChainId: 1,
    destinationChainId: 1.5,
    depositMode: 0,
    depositWindow: 86401,
  }
  const fields = [...Object.keys(bad), 'outputToken'].sort()

  it('on REST', async () => {
    const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, bad)
    expect([status, body.code]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(body.details.map(({ field }: { field: string }) => field).sort()).toEqual(fields)
    expect(body.details).toContainEqual({
      field: 'orderType',
      message: 'must be EXACT_INPUT or EXACT_OUTPUT',
    })
    expect(body.details).toContainEqual({ field: 'userAddress', message: 'must be a string' })
  })

  const transports = [
    ['Connect', createConnectTransport],
    ['gRPC-Web', createGrpcWebTransport],
    ['gRPC', createGrpcTransport],
  ] as const
  it.each(transports)('on %s, as BadRequest next to ErrorInfo', async (_, createTransport) => {
    const client = createClient(QuoteService, createTransport({ baseUrl: service.url, httpVersion: '2' }))
    const call = client.getQuote({ chainId: BigInt(chain.chainId), amount: '0100', originChainId: 1n })
    const error = ConnectError.from(await call.catch((thrown) => thrown))
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: 'INVALID_ARGUMENT', domain: 'aggregator.v1' },
    ])
    const [badRequest] = error.findDetails(BadRequestSchema)
    const named = badRequest?.fieldViolations.map(({ field }) => field).sort()
    expect(named).toEqual(
      [
        'inputToken',
        'outputToken',
        'orderType',
        'amount',
        'userAddress',
        'originChainId',
        'destinationChainId',
        'depositMode',
      ].sort(),
    )
  })
})
