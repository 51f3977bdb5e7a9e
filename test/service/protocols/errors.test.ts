import { ConnectError, createClient } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { BadRequestSchema, ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { BOND, solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import {
  nextTimestamp,
  register,
  signedRegistration,
  signedUnregistration,
} from '../../support/solvers/solver.js'

const [registered, unbonded, bonded] = [solverAccounts[0], solverAccounts[5], solverAccounts[1]]
const ENDPOINT = 'https://127.0.0.1:9'

let chain: TestChain
let service: TestService
let grpc: ReturnType<typeof createGrpcClient>

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
  const environment = {
    NODE_ENV: 'production',
    SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1',
    MAX_SOLVERS_PER_CHAIN: '1',
  }
  service = await startService(chain, environment)
  grpc = createGrpcClient(service.url)
  await register(service, chain.chainId, registered, { endpointUrl: ENDPOINT })
})

afterAll(async () => {
  grpc?.close()
  await service?.close()
  await chain?.stop()
})

interface Provocation {
  service: string
  method: string
  /**
   * Fields that REST bodies and generic gRPC clients both accept. `address` and `orderId` are in REST's path.
   */
  fields(): Promise<Record<string, unknown>>
  rest(chainId: number, fields: Record<string, unknown>): [verb: string, path: string, hasBody: boolean]
}

const registration = (fields: Provocation['fields']): Provocation => ({
  service: 'SolverService',
  method: 'RegisterSolver',
  fields,
  rest: (chainId) => ['POST', `/v1/${chainId}/solvers/register`, true],
})
const unregistration = (fields: Provocation['fields']): Provocation => ({
  service: 'SolverService',
  method: 'UnregisterSolver',
  fields,
  rest: (chainId, { address }) => ['DELETE', `/v1/${chainId}/solvers/${address}`, true],
})
const quote = (fields: Provocation['fields']): Provocation => ({
  service: 'QuoteService',
  method: 'GetQuote',
  fields,
  rest: (chainId) => ['POST', `/v1/${chainId}/quote`, true],
})
const order = (orderId: string): Provocation => ({
  service: 'OrderService',
  method: 'GetOrder',
  fields: async () => ({ orderId }),
  rest: (chainId) => ['GET', `/v1/${chainId}/order/${orderId}`, false],
})

async function badSignature() {
  const fields = await signedRegistration(bonded, { endpointUrl: ENDPOINT })
  return { ...fields, endpointUrl: 'https://127.0.0.1:10' }
}

async function reusedTimestamp() {
  const timestamp = nextTimestamp()
  await register(service, chain.chainId, registered, { endpointUrl: ENDPOINT, timestamp })
  return signedRegistration(registered, { endpointUrl: ENDPOINT, timestamp })
}

const rows: [string, number, number, Provocation][] = [
  ['INVALID_ARGUMENT', 400, 3, order('0x12')],
  [
    'SOLVER_NOT_FOUND',
    404,
    5,
    unregistration(async () => ({ address: bonded.address, ...(await signedUnregistration(bonded)) })),
  ],
  ['SIGNATURE_INVALID', 401, 16, registration(badSignature)],
  [
    'TIMESTAMP_OUT_OF_RANGE',
    401,
    16,
    registration(() =>
      signedRegistration(bonded, { endpointUrl: ENDPOINT, timestamp: Date.now() - 301_000 }),
    ),
  ],
  ['TIMESTAMP_REUSED', 401, 16, registration(reusedTimestamp)],
  [
    'ENDPOINT_REJECTED',
    400,
    9,
    registration(() => signedRegistration(bonded, { endpointUrl: 'https://10.0.0.1' })),
  ],
  ['SOLVER_LIMIT_REACHED', 400, 9, registration(() => signedRegistration(bonded, { endpointUrl: ENDPOINT }))],
  ['NO_QUOTES', 503, 9, quote(async () => ({ ...quoteRequest(chain), orderType: 'EXACT_INPUT' }))],
]

/** gRPC clients made from the .proto files know enum values by their full names. */
function forGrpc(fields: Record<string, unknown>) {
  const { orderType, depositMode } = fields
  return {
    ...fields,
    ...(orderType === undefined ? {} : { orderType: `ORDER_TYPE_${orderType}` }),
    ...(depositMode === undefined ? {} : { depositMode: `DEPOSIT_MODE_${depositMode}` }),
  }
}

async function overRest(chainId: number, { fields, rest }: Provocation) {
  const values = await fields()
  const [verb, path, hasBody] = rest(chainId, values)
  return service.send(verb, path, hasBody ? values : undefined)
}

describe.each(rows)('%s', (reason, httpStatus, grpcCode, provocation) => {
  it(`has HTTP status ${httpStatus} on REST, with a sentence and the reason`, async () => {
    const { status, body } = await overRest(chain.chainId, provocation)
    expect(body).toMatchObject({ error: expect.stringMatching(/^[A-Z].*\.$/), code: reason })
    expect(status).toBe(httpStatus)
  })

  it(`has status ${grpcCode} on gRPC, with the reason in its details`, async () => {
    const fields = forGrpc(await provocation.fields())
    const failure = await grpc
      .call(provocation.service, provocation.method, { chainId: chain.chainId, ...fields })
      .catch((error) => error)
    expect(failure.code).toBe(grpcCode)
    const details = failure.metadata.get('grpc-status-details-bin')[0].toString('latin1')
    expect(details).toContain('type.googleapis.com/google.rpc.ErrorInfo')
    expect(details).toContain(reason)
  })

  it('comes after CHAIN_NOT_SUPPORTED when the chain is not supported', async () => {
    const rest = await overRest(1, provocation)
    const message = `Chain 1 is not supported here. Supported: ${chain.chainId}.`
    expect([rest.status, rest.body.code, rest.body.error]).toEqual([404, 'CHAIN_NOT_SUPPORTED', message])
    const call = grpc.call(provocation.service, provocation.method, { chainId: 1 })
    await expect(call).rejects.toMatchObject({ code: 5, details: message })
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
