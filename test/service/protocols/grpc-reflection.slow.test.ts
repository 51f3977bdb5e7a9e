import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials, type ServiceClientConstructor, type ServiceError, status } from '@grpc/grpc-js'
import { GrpcReflection } from 'grpc-js-reflection-client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import {
  openReflection,
  type ReflectionVersion,
  runBufCurl,
  VERSIONS,
} from '../../support/clients/reflection-client.js'
import { startService, type TestService } from '../../support/service/service.js'
import { startSolver, type TestSolver } from '../../support/solvers/solver.js'

const SERVICES = [
  'aggregator.v1.ChainService',
  'aggregator.v1.EventService',
  'aggregator.v1.OrderService',
  'aggregator.v1.QuoteService',
  'aggregator.v1.SolverService',
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
]
const QUOTE_FILES = [
  'aggregator/v1/chain_health.proto',
  'aggregator/v1/event.proto',
  'aggregator/v1/quote.proto',
  'google/api/annotations.proto',
  'google/api/http.proto',
  'google/protobuf/descriptor.proto',
]
const METHOD_OPTIONS = 'google.protobuf.MethodOptions'
/** `google.api.http`, the option with a method's REST path. */
const HTTP_OPTION = 72295728
const UNKNOWN_ORDER = `0x${'ab'.repeat(32)}`

let chain: TestChain
let service: TestService
let solver: TestSolver
/** A folder outside of the repository. */
let folder: string
const open = new Set<{ close(): void }>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reflection-'))
  chain = await startChain({ bonded: 1 })
  service = await startService(chain)
  solver = await startSolver(chain, solverAccounts[0])
  await solver.register(service, 'Known by reflection')
})
afterEach(() => {
  for (const client of open) client.close()
  open.clear()
})
afterAll(async () => {
  await service?.close()
  await solver?.close()
  await chain?.stop()
  await rm(folder, { recursive: true })
})

function reflect(version?: ReflectionVersion, { url } = service) {
  const reflection = openReflection(url, version)
  open.add(reflection)
  return reflection
}

const names = (files: readonly { name: string }[]) => files.map(({ name }) => name)

describe.each(VERSIONS)('buf curl, by reflection %s', (version) => {
  const curl = (...args: string[]) => runBufCurl(folder, ['--reflect-protocol', `grpc-${version}`, ...args])

  it('lists all services', async () => {
    const { code, stdout, stderr } = await curl('--list-services', service.url)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.trim().split('\n').toSorted()).toEqual(SERVICES)
  })

  it.each(['connect', 'grpc', 'grpcweb'])('reads an order and the solvers over %s', async (protocol) => {
    const call = async (method: string, request: object) => {
      const url = `${service.url}/aggregator.v1.${method}`
      const { code, stdout, stderr } = await curl('--protocol', protocol, '-d', JSON.stringify(request), url)
      expect([code, stderr]).toEqual([0, ''])
      return JSON.parse(stdout)
    }
    const chainId = String(chain.chainId)
    expect(await call('OrderService/GetOrder', { chainId, orderId: UNKNOWN_ORDER })).toEqual({
      orderId: UNKNOWN_ORDER,
      chainId,
      state: 'ORDER_STATE_NONE',
    })
    const { solvers } = await call('SolverService/ListSolvers', { chainId })
    expect(solvers).toMatchObject([{ address: solver.account.address, name: 'Known by reflection' }])
  })

  it('shows the error of a method', async () => {
    const request = JSON.stringify({ chainId: chain.chainId, orderId: '0x12' })
    const url = `${service.url}/aggregator.v1.OrderService/GetOrder`
    const { code, stderr } = await curl('--protocol', 'grpc', '-d', request, url)
    // buf's own exit code: the status, three bits to the left.
    expect(code).toBe(status.INVALID_ARGUMENT << 3)
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('orderId'),
    })
  })
})

describe.each(VERSIONS)('grpc-js, by reflection %s', (version) => {
  const connect = () =>
    new GrpcReflection(new URL(service.url).host, credentials.createInsecure(), {}, version)

  it('lists all services, and the methods of one', async () => {
    expect((await connect().listServices()).toSorted()).toEqual(SERVICES)
    const methods = await connect().listMethods('aggregator.v1.SolverService')
    expect(methods.map(({ name }) => name).toSorted()).toEqual([
      'GetSolverStats',
      'ListOwnResults',
      'ListSolverStats',
      'ListSolvers',
      'OpenSession',
      'RegisterSolver',
      'UnregisterSolver',
    ])
  })

  it('finds GetQuote in the files of QuoteService, and the REST option in their imports', async () => {
    const root = (await connect().getDescriptorBySymbol('aggregator.v1.QuoteService')).getProtobufJsRoot()
    expect(Object.keys(root.lookupService('aggregator.v1.QuoteService').methods)).toContain('GetQuote')
    const option = root.lookup('google.api.http')
    expect(option).toMatchObject({ id: HTTP_OPTION, extend: `.${METHOD_OPTIONS}` })
  })

  it('calls a method', async () => {
    const descriptor = await connect().getDescriptorBySymbol('aggregator.v1.SolverService')
    // biome-ignore lint/suspicious/noExplicitAny: what is loaded at run time has no static types
    const { aggregator } = descriptor.getPackageObject({ longs: Number, defaults: true }) as any
    const SolverService: ServiceClientConstructor = aggregator.v1.SolverService
    const client = new SolverService(new URL(service.url).host, credentials.createInsecure())
    open.add(client)
    const answer = await new Promise((resolve, reject) => {
      client.ListSolvers?.({ chain_id: chain.chainId }, (error: Error | null, list: unknown) =>
        error === null ? resolve(list) : reject(error),
      )
    })
    expect(answer).toMatchObject({ solvers: [{ name: 'Known by reflection' }] })
  })

  it('reads the reason of an error and its bad fields', async () => {
    const messages = async (symbol: string) =>
      (await connect().getDescriptorBySymbol(symbol)).getProtobufJsRoot().lookupType(symbol)
    const { metadata } = await refusal(await connect().getDescriptorBySymbol('aggregator.v1.OrderService'))
    const [bytes] = metadata.get('grpc-status-details-bin')
    const { details } = (await messages('google.rpc.Status')).decode(bytes as Buffer).toJSON()
    const shown = []
    for (const { typeUrl, value } of details) {
      const type = typeUrl.split('/').at(-1)
      const message = (await messages(type)).decode(Buffer.from(value, 'base64'))
      shown.push([type, message.toJSON()])
    }
    const violation = { field: 'orderId', description: 'must be 32 bytes in hex with 0x' }
    expect(shown).toEqual([
      ['google.rpc.ErrorInfo', { reason: 'INVALID_ARGUMENT', domain: 'aggregator.v1' }],
      ['google.rpc.BadRequest', { fieldViolations: [violation] }],
    ])
  })
})

/** Requests an order by an invalid id. */
async function refusal(descriptor: Awaited<ReturnType<GrpcReflection['getDescriptorBySymbol']>>) {
  // biome-ignore lint/suspicious/noExplicitAny: what is loaded at run time has no static types
  const { aggregator } = descriptor.getPackageObject({ longs: Number }) as any
  const client = new aggregator.v1.OrderService(new URL(service.url).host, credentials.createInsecure())
  open.add(client)
  return new Promise<ServiceError>((resolve, reject) => {
    client.GetOrder({ chain_id: chain.chainId, order_id: '0x12' }, (error: ServiceError | null) =>
      error === null ? reject(new Error('it was answered')) : resolve(error),
    )
  })
}

describe.each(VERSIONS)('grpc-js, a reflection stream %s', (version) => {
  it('answers one request after the other, errors among them, and ends with the caller', async () => {
    const reflection = reflect(version)
    const questions = [
      { fileByFilename: 'aggregator/v1/none.proto' },
      { fileContainingSymbol: 'aggregator.v1.NoService' },
      { fileContainingExtension: { containingType: METHOD_OPTIONS, extensionNumber: 1 } },
      { allExtensionNumbersOfType: 'aggregator.v1.NoMessage' },
    ]
    for (const question of questions) {
      const { errorResponse, messageResponse } = await reflection.ask(question)
      expect([messageResponse, errorResponse.errorCode]).toEqual(['errorResponse', status.NOT_FOUND])
      const files = await reflection.askFiles({ fileContainingSymbol: 'aggregator.v1.QuoteService' })
      expect(names(files)).toContain('aggregator/v1/quote.proto')
    }
    expect(await reflection.end()).toBe(true)
  })

  it('answers concurrent requests in order, each with its request', async () => {
    const reflection = reflect(version)
    const symbols = SERVICES.map((name) => ({ host: 'a.host', fileContainingSymbol: name }))
    for (const question of symbols) reflection.send(question)
    for (const question of symbols) {
      const { validHost, originalRequest, messageResponse } = await reflection.next()
      expect([validHost, messageResponse]).toEqual(['a.host', 'fileDescriptorResponse'])
      expect(originalRequest).toMatchObject(question)
    }
  })

  it('returns each file once, with all its imports', async () => {
    const reflection = reflect(version)
    for (const question of [
      { fileByFilename: 'aggregator/v1/quote.proto' },
      { fileContainingSymbol: 'aggregator.v1.QuoteService' },
    ]) {
      const files = await reflection.askFiles(question)
      expect(files[0]?.name).toBe('aggregator/v1/quote.proto')
      expect(names(files).toSorted()).toEqual(QUOTE_FILES)
      for (const { dependency } of files) expect(QUOTE_FILES).toEqual(expect.arrayContaining(dependency))
    }
  })

  it.each([
    ['a service', 'aggregator.v1.OrderService', 'aggregator/v1/order.proto'],
    ['a method', 'aggregator.v1.OrderService.GetOrder', 'aggregator/v1/order.proto'],
    ['a message', 'aggregator.v1.GetOrderRequest', 'aggregator/v1/order.proto'],
    ['an enum', 'aggregator.v1.OrderState', 'aggregator/v1/order.proto'],
    ['an extension', 'google.api.http', 'google/api/annotations.proto'],
    ['what errors carry', 'google.rpc.ErrorInfo', 'google/rpc/error_details.proto'],
    ['when to come back', 'google.rpc.RetryInfo', 'google/rpc/error_details.proto'],
    [
      'reflection itself',
      `grpc.reflection.${version}.ServerReflection`,
      `grpc/reflection/${version}/reflection.proto`,
    ],
  ])('finds the file of %s', async (_, symbol, file) => {
    expect(names(await reflect(version).askFiles({ fileContainingSymbol: symbol }))[0]).toBe(file)
  })

  it('finds the extension with the REST paths, and lists it', async () => {
    const reflection = reflect(version)
    const extension = { containingType: METHOD_OPTIONS, extensionNumber: HTTP_OPTION }
    const [annotations] = await reflection.askFiles({ fileContainingExtension: extension })
    expect(annotations?.extension).toMatchObject([{ name: 'http', number: HTTP_OPTION }])
    const { allExtensionNumbersResponse } = await reflection.ask({
      allExtensionNumbersOfType: METHOD_OPTIONS,
    })
    expect(allExtensionNumbersResponse).toEqual({
      baseTypeName: METHOD_OPTIONS,
      extensionNumber: [HTTP_OPTION],
    })
  })
})

describe('grpc-js, the limit on all requests', () => {
  it('counts each reflection request, on any stream and in any version', async () => {
    const limited = await startService(chain, { RATE_LIMIT_MAX: '5' })
    try {
      const question = { listServices: '*' }
      const [v1, v1alpha] = [reflect('v1', limited), reflect('v1alpha', limited)]
      for (const reflection of [v1, v1, v1alpha, v1, v1alpha]) {
        const { listServicesResponse } = await reflection.ask(question)
        expect(listServicesResponse.service).toHaveLength(SERVICES.length)
      }
      for (const reflection of [v1, v1alpha, reflect('v1', limited)]) {
        await expect(reflection.ask(question)).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED })
      }
      expect((await limited.get('/v1/nothing/is/here')).status).toBe(429)
    } finally {
      for (const client of open) client.close()
      await limited.close()
    }
  })
})
