import { ConnectError, createClient } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { describe, expect, it } from 'vitest'
import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { BadRequestSchema, ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { BOND, solverAccounts, type TestChain } from '../../support/chain/chain.js'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { signedRegistration } from '../../support/solvers/solver.js'

const [bonded, unbonded] = [solverAccounts[0], solverAccounts[5]]
const ENDPOINT = 'https://127.0.0.1:9'

const chain = await shared(startModelChain({ bonded: 1 }))
const environment = {
  NODE_ENV: 'production',
  SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1',
}
const service = await shared(startService(chain, environment))
const grpc = await shared(createGrpcClient(service.url))

describe('SIGNATURE_INVALID', () => {
  const forged = async () => ({
    ...(await signedRegistration(bonded, { endpointUrl: ENDPOINT })),
    endpointUrl: 'https://127.0.0.1:10',
  })

  it('has status 401 on REST, with a sentence and the reason, after CHAIN_NOT_SUPPORTED', async () => {
    const { status, body } = await service.post(`/v1/${chain.chainId}/solvers/register`, await forged())
    expect(body).toMatchObject({ error: expect.stringMatching(/^[A-Z].*\.$/), code: 'SIGNATURE_INVALID' })
    expect(status).toBe(401)
    const elsewhere = await service.post('/v1/1/solvers/register', await forged())
    const error = `Chain 1 is not supported here. Supported: ${chain.chainId}.`
    expect([elsewhere.status, elsewhere.body]).toEqual([404, { error, code: 'CHAIN_NOT_SUPPORTED' }])
  })

  it('has status 16 on gRPC, with the reason in its details', async () => {
    const fields = { chainId: chain.chainId, ...(await forged()) }
    const failure = await grpc.call('SolverService', 'RegisterSolver', fields).catch((error) => error)
    expect(failure.code).toBe(16)
    const details = failure.metadata.get('grpc-status-details-bin')[0].toString('latin1')
    expect(details).toContain('type.googleapis.com/google.rpc.ErrorInfo')
    expect(details).toContain('SIGNATURE_INVALID')
  })
})

it('BOND_INSUFFICIENT names the minimum, for a solver without a bond and for one below it', async () => {
  const open = await startService(chain, { MIN_SOLVER_BOND: (BOND + 1n).toString() })
  for (const account of [unbonded, bonded]) {
    const { status, body } = await open.post(
      `/v1/${chain.chainId}/solvers/register`,
      await signedRegistration(account, { endpointUrl: ENDPOINT }),
    )
    expect([status, body.code]).toEqual([400, 'BOND_INSUFFICIENT'])
    expect(body.error).toContain((BOND + 1n).toString())
  }
  await open.close()
})

const unless = ({ chainId }: TestChain) =>
  `unless the operator allows others in DESTINATION_CHAINS_${chainId}`

describe('a swap that the contract cannot settle is rejected before a solver is asked', () => {
  const ask = (open: TestService, changes: Record<string, unknown>) =>
    open.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...changes })

  it('when its destination is not configured for this chain', async () => {
    const { status, body } = await ask(service, { destinationChainId: 10 })
    expect([status, body.code]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(body.details).toEqual([
      { field: 'destinationChainId', message: `must be ${chain.chainId}, ${unless(chain)}` },
    ])
  })

  it('except when its destination is configured for this chain', async () => {
    const open = await startService(chain, { [`DESTINATION_CHAINS_${chain.chainId}`]: '10,8453' })
    for (const destinationChainId of [chain.chainId, 10, 8453]) {
      expect((await ask(open, { destinationChainId })).body.code).toBe('NO_QUOTES')
    }
    const { body } = await ask(open, { destinationChainId: 1 })
    expect(body.details).toEqual([
      { field: 'destinationChainId', message: `must be ${chain.chainId} or 10 or 8453, ${unless(chain)}` },
    ])
    await open.close()
  })

  it('when both tokens are the same, in any letter case', async () => {
    const { weth } = chain.contracts
    for (const outputToken of [weth, weth.toLowerCase()]) {
      const { status, body } = await ask(service, { outputToken })
      expect(status).toBe(400)
      expect(body.details).toEqual([{ field: 'outputToken', message: 'must differ from inputToken' }])
    }
  })
})

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
