import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'

let chain: TestChain
let first: RpcProxy
let second: RpcProxy
let service: TestService
let orders = 0

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  first = await startRpcProxy(chain.devnet.rpcUrl)
  second = await startRpcProxy(chain.devnet.rpcUrl)
})
afterEach(async () => {
  await service?.close()
  first.close()
  second.close()
})

const start = async (urls: readonly string[], pollIntervalMs: number) => {
  service = await startService(chain, {
    [`RPC_URL_${chain.chainId}`]: urls.join(),
    [`POLL_INTERVAL_MS_${chain.chainId}`]: String(pollIntervalMs),
  })
}
/** Reads an order that was not read before. */
const readOrder = () =>
  service.get(`/v1/${chain.chainId}/order/0x${(++orders).toString(16).padStart(64, '0')}`)
const asked = async (rpc: RpcProxy) => rpc.requests().length

describe('Retry-After of an RPC endpoint', () => {
  it.each([
    ['429 with seconds', 429, () => '50'],
    ['503 with a date', 503, () => new Date(Date.now() + 50_000).toUTCString()],
  ])('(%s) pauses that endpoint, and the others are asked', async (_what, status, retryAfter) => {
    await start([first.url, second.url], 60_000)
    first.refuse({ status, retryAfter: retryAfter() })
    expect((await readOrder()).status).toBe(200)
    first.forgetCalls()
    for (let count = 0; count < 5; count++) expect((await readOrder()).status).toBe(200)
    // Tokens are read on connections of their own.
    expect(first.orderReads()).toEqual([])
  })

  it('lets the endpoint be asked again after its time', async () => {
    await start([first.url], 20)
    first.forgetCalls()
    const since = performance.now()
    first.refuse({ status: 429, retryAfter: '2' })
    await eventually(
      async () => (await service.get('/health')).body.chains[0].status,
      (status) => status === 'down',
    )
    first.refuse()
    first.forgetCalls()
    await eventually(
      () => asked(first),
      (count) => count > 0,
    )
    expect(performance.now() - since).toBeGreaterThanOrEqual(2000)
    await eventually(
      async () => (await service.get('/health')).body.chains[0].status,
      (status) => status === 'ok',
    )
  })
})
