import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials, type ServiceClientConstructor, status } from '@grpc/grpc-js'
import { GrpcReflection } from 'grpc-js-reflection-client'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { startScene } from '../../support/service/scene.js'
import { startService } from '../../support/service/service.js'
import { openReflection, type ReflectionVersion, runBufCurl, VERSIONS } from './reflection-client.js'

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
const UNKNOWN_ORDER = `0x${'ab'.repeat(32)}`

const open = new Set<{ close(): void }>()

/** A folder outside of the repository. */
const folder = await mkdtemp(join(tmpdir(), 'reflection-'))
const { chain, service, solvers } = await startScene({ solvers: ['Known by reflection'] })
const [solver] = solvers

afterEach(() => {
  for (const client of open) client.close()
  open.clear()
})

afterAll(async () => {
  await rm(folder, { recursive: true })
})

function reflect(version?: ReflectionVersion, { url } = service) {
  const reflection = openReflection(url, version)
  open.add(reflection)
  return reflection
}

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
})

describe.each(VERSIONS)('grpc-js, by reflection %s', (version) => {
  const connect = () =>
    new GrpcReflection(new URL(service.url).host, credentials.createInsecure(), {}, version)

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
