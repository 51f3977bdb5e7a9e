import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { credentials, type ServiceClientConstructor } from '@grpc/grpc-js'
import { GrpcReflection } from 'grpc-js-reflection-client'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { startScene } from '../../support/service/scene.js'

const BUF = resolve('node_modules/.bin/buf')
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

/** A folder outside of the repository, which has none of the protos. */
const folder = await mkdtemp(join(tmpdir(), 'reflection-'))
afterAll(() => rm(folder, { recursive: true }))
const { chain, service, solvers } = await startScene({ solvers: ['Known by reflection'] })
const [solver] = solvers

describe.each(['v1', 'v1alpha'])('by reflection %s', (version) => {
  /** Runs `buf curl`. @returns what it prints @throws when it fails, or complains */
  async function curl(...args: string[]): Promise<string> {
    const options = { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } }
    const all = ['curl', '--reflect-protocol', `grpc-${version}`, ...args]
    const { stdout, stderr } = await promisify(execFile)(BUF, all, options)
    expect(stderr).toBe('')
    return stdout
  }

  it('buf curl lists all services', async () => {
    const listed = await curl('--list-services', service.url)
    expect(listed.trim().split('\n').toSorted()).toEqual(SERVICES)
  })

  it.each(['connect', 'grpc', 'grpcweb'])(
    'buf curl reads an order and the solvers over %s',
    async (protocol) => {
      const call = async (method: string, request: object) => {
        const url = `${service.url}/aggregator.v1.${method}`
        return JSON.parse(await curl('--protocol', protocol, '-d', JSON.stringify(request), url))
      }
      const chainId = String(chain.chainId)
      const order = await call('OrderService/GetOrder', { chainId, orderId: UNKNOWN_ORDER })
      expect(order).toEqual({ orderId: UNKNOWN_ORDER, chainId, state: 'ORDER_STATE_NONE' })
      const { solvers } = await call('SolverService/ListSolvers', { chainId })
      expect(solvers).toMatchObject([{ address: solver.account.address, name: 'Known by reflection' }])
    },
  )

  it('grpc-js calls a method', async () => {
    const { host } = new URL(service.url)
    const reflection = new GrpcReflection(host, credentials.createInsecure(), {}, version)
    const descriptor = await reflection.getDescriptorBySymbol('aggregator.v1.SolverService')
    // biome-ignore lint/suspicious/noExplicitAny: what is loaded at run time has no static types
    const { aggregator } = descriptor.getPackageObject({ longs: Number, defaults: true }) as any
    const SolverService: ServiceClientConstructor = aggregator.v1.SolverService
    const client = new SolverService(host, credentials.createInsecure())
    onTestFinished(() => client.close())
    const list = promisify(client.ListSolvers?.bind(client) as never) as (request: object) => unknown
    expect(await list({ chain_id: chain.chainId })).toMatchObject({
      solvers: [{ name: 'Known by reflection' }],
    })
  })
})
