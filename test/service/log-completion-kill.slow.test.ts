import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../support/chain/chain.js'
import { expectedOrders, type OrderMessage } from '../support/chain/chain-orders.js'
import { createTraffic } from '../support/chain/event-traffic.js'
import { listOrders } from '../support/clients/list-orders.js'
import { makeOlderDatabase } from '../support/databases/older-log.js'
import { databases } from '../support/databases/service-databases.js'
import { deferred } from '../support/deferred.js'
import { expectAtLast } from '../support/expect-at-last.js'
import { type RpcProxy, startRpcProxy } from '../support/faults/rpc-proxy.js'
import { startServiceProcess } from '../support/process/process.js'
import { createRandom } from '../support/random.js'
import { startService } from '../support/service/service.js'
import { type EventMessage, expectedMessages } from '../support/streams/event-messages.js'
import { webSocket, withoutCursors } from '../support/streams/transports.js'

/** The completion reads the logs of each of these blocks once, ten blocks at a time. */
const BLOCKS = 80
/** A process is killed at one of its first readings. */
const MOST_READINGS = 25

let chain: TestChain
let proxy: RpcProxy
let events: EventMessage[]
let orders: OrderMessage[]

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  const traffic = await createTraffic(chain, { seed: 5 })
  await traffic.run({ events: 3 * BLOCKS, blocks: BLOCKS })
  events = await expectedMessages(chain)
  orders = await expectedOrders(chain, (await traffic.head()).number)
  proxy = await startRpcProxy(chain.devnet.rpcUrl)
})
afterAll(async () => {
  proxy?.close()
  await chain?.stop()
})

/** Counts the blocks whose logs the completion reads. @returns what resolves at reading number `last` */
function countReadings(last: number, onReading: () => void): Promise<void> {
  const reached = deferred()
  let readings = 0
  proxy.intercept(({ method, params }, pass) => {
    if (method === 'eth_getLogs' && JSON.stringify(params).includes('"blockHash"')) {
      onReading()
      if (++readings === last) reached.open()
    }
    return pass()
  })
  return reached.opened
}

describe.each(databases)('on %s', (_kind, make) => {
  it('a log is completed by processes that are killed at any reading', { timeout: 120_000 }, async () => {
    const older = await makeOlderDatabase(chain, orders.length, make)
    onTestFinished(older.drop)
    const environment = { ...older.environment, [`RPC_URL_${chain.chainId}`]: proxy.url }
    const random = createRandom(11)
    let readings = 0
    let kills = 0
    for (; readings < 2 * BLOCKS && kills < 6; kills++) {
      const reached = countReadings(random.integer(1, MOST_READINGS), () => readings++)
      const running = startServiceProcess(environment)
      await reached
      running.signal('SIGKILL')
      await running.exited
    }
    proxy.intercept()
    const service = await startService(chain, environment)
    onTestFinished(() => service.close())
    await expectAtLast(() => listOrders(chain.chainId, { pageSize: 200 }, () => service), orders)
    await expectAtLast(async () => {
      const client = webSocket.open(service.url, { after: 'earliest' })
      const messages = await client.take(events.length)
      client.leave()
      return withoutCursors(messages)
    }, events)
    // What a killed process has stored is not read again: at most a page each.
    expect(readings).toBeLessThanOrEqual(BLOCKS + 10 * kills)
  })
})
