import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import { type EventWatch, watchEvents } from '../../support/streams/watch-events.js'

let first: RpcProxy
let second: RpcProxy
let service: TestService
let events: EventWatch | undefined

const chain = await shared(startModelChain({ bonded: 0 }))
const traffic = await createTraffic(chain, { seed: 31 })

beforeEach(async () => {
  first = await startRpcProxy(chain.devnet.rpcUrl)
  second = await startRpcProxy(chain.devnet.rpcUrl)
})

afterEach(async () => {
  events?.close()
  await service?.close()
  first.close()
  second.close()
})

const start = (urls: readonly string[], environment: Record<string, string> = {}) =>
  startService(chain, {
    [`RPC_URL_${chain.chainId}`]: urls.join(),
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    ...environment,
  })
const chainHealth = async () => (await service.get('/health')).body.chains[0]
/** Mines some events and checks that each of them comes once, in order. */
async function expectEvents(watch: EventWatch, from: number, count = 6) {
  const before = watch.events().length
  await traffic.run({ events: count, blocks: 3 })
  await watch.untilCount(before + count)
  expect(standing(watch.events())).toEqual(await expectedMessages(chain, from))
}

const nextBlock = async () => (await traffic.head()).number + 1

describe('the second of two RPC URLs', () => {
  it('takes over when the first fails, and the first when the second fails, without a gap', async () => {
    const from = await nextBlock()
    service = await start([first.url, second.url])
    events = await watchEvents(service)
    await expectEvents(events, from)
    expect(second.count('eth_getLogs')).toBe(0)
    for (const [dead, alive] of [
      [first, second],
      [second, first],
      [first, second],
    ] as const) {
      dead.setUp(false)
      alive.setUp(true)
      await expectEvents(events, from)
      expect((await chainHealth()).status).toBe('ok')
    }
  })
})

it('an endpoint behind which another chain appears gets no calls, and is named, until the chain is back', async () => {
  service = await start([first.url, second.url])
  const named = async () => (await chainHealth()).endpoints
  first.intercept(async ({ method }, pass) => (method === 'eth_chainId' ? { result: '0x63' } : pass()))
  const [problem] = await eventually(named, (endpoints) => endpoints?.length === 1)
  expect(problem).toMatchObject({ endpoint: new URL(first.url).host, problem: 'OTHER_CHAIN' })
  first.forgetCalls()
  const readOrder = (byte: string) => service.get(`/v1/${chain.chainId}/order/0x${byte.repeat(32)}`)
  expect((await readOrder('cd')).status).toBe(200)
  second.setUp(false)
  expect((await readOrder('ef')).status).toBe(503)
  expect(first.orderReads()).toEqual([])
  second.setUp(true)
  first.intercept()
  await eventually(named, (endpoints) => endpoints === undefined)
})
