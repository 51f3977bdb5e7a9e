import { expect, it } from 'vitest'
import { createEndpointOrder } from '../../../packages/chain/src/rpc-client.js'
import { type Endpoint, troubleOf } from '../../../packages/chain/src/rpc-endpoint.js'
import type { ChainContext } from '../../../src/chain/context.js'
import { createEndpointWatch } from '../../../src/chain/contract/endpoint-watch.js'
import { createEndpointVerifier } from '../../../src/chain/contract/verify-endpoint.js'
import type { Logger } from '../../../src/telemetry/log.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const CHAIN_ID = 7
const HOSTS = ['first.example', 'second.example', 'third.example']

/** A node as the watch sees it. Its `head` is undefined while it does not answer, and 'hangs' while it never does. */
interface Node {
  chainId: number
  head: unknown
  calls: string[]
}

function startWatch(count = 2) {
  const clock = createManualClock()
  const nodes: Node[] = HOSTS.slice(0, count).map(() => ({ chainId: CHAIN_ID, head: 100, calls: [] }))
  const endpoints = nodes.map((node, index) => {
    const answer = async <T>(method: string, value: () => T): Promise<T> => {
      node.calls.push(method)
      if (node.head === 'hangs') return new Promise<never>(() => {})
      if (node.head === undefined) throw new Error('no connection')
      return value()
    }
    return only<Endpoint>({
      host: HOSTS[index],
      request: (method: string) => answer(method, () => node.head),
      client: { getChainId: () => answer('eth_chainId', () => node.chainId) },
    })
  })
  const lines: string[] = []
  const write = (_fields: object, text: string) => void lines.push(text)
  const log = only<Logger>({ info: write, warn: write, error: write })
  const config = { chainId: CHAIN_ID, settlement: `0x${'5e'.repeat(20)}` }
  const order = createEndpointOrder(endpoints, clock.monotonic, troubleOf)
  const rpc = { endpoints, order }
  const context = only<ChainContext>({ config, rpc, protocolName: 'Service', clock, log })
  const verifier = createEndpointVerifier(context, () => {})
  const watch = createEndpointWatch(context, verifier)
  function set(...heads: Node['head'][]): void {
    for (const [index, head] of heads.entries()) Object.assign(nodes[index] as Node, { head })
  }
  const troubles = () => endpoints.map(troubleOf)
  return { clock, nodes, troubles, lines, watch, set }
}

it('an endpoint whose head stands still while another one moves is named within 15 s, and comes last until it moves', async () => {
  const { clock, set, watch, troubles, lines } = startWatch(3)
  await clock.advance(4000)
  set(100, 101, 'hangs')
  await clock.advance(14_000)
  expect(watch.problems()).toContainEqual({ endpoint: HOSTS[0], problem: 'STANDS_STILL', headBlock: 100 })
  expect(troubles()).toEqual(['STANDS_STILL', undefined, 'NO_ANSWER'])
  set(101, 105, 105)
  await clock.advance(8000)
  expect([watch.problems(), troubles()[0]]).toEqual([[], undefined])
  expect(lines.filter((line) => line.includes('head'))).toEqual([
    'the head of an endpoint stands still while another one moves: others come first until it moves',
    'the head of the endpoint moves again',
  ])
})

it.each([['hangs'], [undefined]] as const)(
  'an endpoint that does not answer (%s) while another one does is named, and comes last',
  async (head) => {
    const { clock, set, watch, troubles, lines } = startWatch()
    set(100, head)
    await clock.advance(18_000)
    expect(watch.problems()).toEqual([{ endpoint: HOSTS[1], problem: 'NO_ANSWER', headBlock: undefined }])
    expect(troubles()).toEqual([undefined, 'NO_ANSWER'])
    set(undefined, undefined)
    await clock.advance(30_000)
    expect(watch.problems()).toHaveLength(1)
    set(120, 120)
    await clock.advance(8000)
    expect(watch.problems()).toEqual([])
    expect(lines).toEqual([
      'an endpoint does not answer, and others take its calls',
      'the endpoint answers again',
    ])
  },
)

it('no endpoint is named while the chain stands still, nor one that lags and moves', async () => {
  const { clock, set, watch } = startWatch()
  await clock.advance(60_000)
  expect(watch.problems()).toEqual([])
  for (let block = 1; block < 20; block++) {
    set(100 + block, 110 + block)
    await clock.advance(4000)
    expect(watch.problems()).toEqual([])
  }
})

it('an endpoint that is far below another one comes last although it moves, until it has caught up', async () => {
  const { clock, set, watch, troubles } = startWatch()
  for (let block = 1; block <= 4; block++) {
    set(100 + block, 130 + block)
    await clock.advance(4000)
  }
  expect(watch.problems()).toEqual([{ endpoint: HOSTS[0], problem: 'LAGS', headBlock: 104 }])
  expect(troubles()).toEqual(['LAGS', undefined])
  set(140, 141)
  await clock.advance(4000)
  expect(watch.problems()).toEqual([])
})

it('the chain of an endpoint is verified in each look, whatever its head is', async () => {
  const { clock, nodes, set } = startWatch()
  for (const head of [100, 101, 5000, 4999]) {
    const [first] = nodes as [Node, Node]
    first.calls = []
    set(head)
    await clock.advance(4000)
    expect(first.calls).toEqual(['eth_blockNumber', 'eth_chainId'])
  }
})

it.each([['0x'], ['latest'], [{}], [null]])(
  'an endpoint whose head is %j gives no answer, and hides no other one that stands still',
  async (odd) => {
    const { clock, set, watch } = startWatch(3)
    for (let block = 1; block <= 4; block++) {
      set(100, 100 + block, odd)
      await clock.advance(4000)
    }
    expect(watch.problems()).toEqual([
      { endpoint: HOSTS[0], problem: 'STANDS_STILL', headBlock: 100 },
      { endpoint: HOSTS[2], problem: 'NO_ANSWER', headBlock: undefined },
    ])
  },
)

it('a single endpoint has no other to be compared with, and gets no calls', async () => {
  const { clock, nodes } = startWatch(1)
  await clock.advance(60_000)
  expect([nodes[0]?.calls, clock.waiting]).toEqual([[], 0])
})
