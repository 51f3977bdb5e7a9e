import { createTestClient, http } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../../../packages/cli/src/devnet/anvil.js'
import { eventually } from '../../support/eventually.js'
import { answerFromOldHead, headOf, type RpcReply } from '../../support/faults/chain-view.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { useWatchedChain } from '../../support/faults/watched-chain.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'

const on = useWatchedChain({ seed: 46, pollIntervalMs: 100 })
const OTHER_CHAIN_ID = 99

let other: Anvil
let second: RpcProxy

beforeAll(async () => {
  other = await startAnvil({ chainId: OTHER_CHAIN_ID })
})
afterAll(() => other?.stop())
beforeEach(async () => {
  second = await startRpcProxy(on.chain.devnet.rpcUrl)
})
afterEach(() => second.close())

const start = () => on.start({ [`RPC_URL_${on.chain.chainId}`]: `${on.rpc.url},${second.url}` })
const named = async () => (await on.chainHealth()).endpoints
const readOrder = (index: number) =>
  on.service.get(`/v1/${on.chain.chainId}/order/0x${index.toString(16).padStart(64, '0')}`)
const hostOf = (rpc: RpcProxy) => new URL(rpc.url).host

async function expectAllEvents(): Promise<void> {
  const expected = await expectedMessages(on.chain, on.from)
  await on.events.untilCount(expected.length)
  expect(standing(on.events.events())).toEqual(expected)
}

it('a first endpoint whose head stands still is named within 15 s of the next block, and events go on', async () => {
  await start()
  await on.traffic.run({ events: 2, blocks: 2 })
  await on.untilRead()
  const { number } = await on.traffic.head()
  on.rpc.intercept(async (call, _pass, ask) => answerFromOldHead(ask, call, (await headOf(ask)) - number))
  await on.traffic.run({ events: 2, blocks: 2 })
  const since = performance.now()
  await eventually(named, (endpoints) => endpoints !== undefined)
  expect(performance.now() - since).toBeLessThan(15_000)
  expect(await named()).toEqual([{ endpoint: hostOf(on.rpc), problem: 'STANDS_STILL', headBlock: number }])
  await expectAllEvents()
  on.rpc.forgetCalls()
  expect((await readOrder(1)).status).toBe(200)
  expect(on.rpc.orderReads()).toEqual([])

  on.rpc.intercept()
  await eventually(named, (endpoints) => endpoints === undefined)
})

it('an endpoint behind which another chain appears gets no calls, and is named, until the chain is back', async () => {
  const miner = createTestClient({ mode: 'anvil', transport: http(other.url) })
  await start()
  await on.traffic.run({ events: 2, blocks: 2 })
  await on.untilRead()
  const { number } = await on.traffic.head()
  await miner.mine({ blocks: number + 10 })
  on.rpc.intercept(async ({ method, params = [] }) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    return (await (await fetch(other.url, { method: 'POST', headers, body })).json()) as RpcReply
  })
  const [problem] = await eventually(named, (endpoints) => endpoints?.length === 1)
  expect(problem).toMatchObject({ endpoint: hostOf(on.rpc), problem: 'OTHER_CHAIN' })
  const { chainId } = on.chain
  expect(on.lines).toContainEqual(
    expect.objectContaining({
      msg: 'an endpoint serves another chain: it gets no calls until it serves this one',
      endpoint: hostOf(on.rpc),
      reason: expect.stringContaining(`answers for chain ${OTHER_CHAIN_ID}, and not for ${chainId}`),
    }),
  )
  on.rpc.forgetCalls()
  await on.traffic.run({ events: 4, blocks: 4 })
  await expectAllEvents()
  expect((await readOrder(2)).status).toBe(200)
  expect(on.rpc.orderReads()).toEqual([])
  expect((await on.chainHealth()).headBlock).toBe((await on.traffic.head()).number)

  on.rpc.intercept()
  await eventually(named, (endpoints) => endpoints === undefined)
})
