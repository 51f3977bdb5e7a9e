import SQLite from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startChain, type TestChain } from '../support/chain/chain.js'
import { expectedOrders } from '../support/chain/chain-orders.js'
import { createTraffic, type Traffic } from '../support/chain/event-traffic.js'
import { temporaryFile } from '../support/databases/temporary-file.js'
import { eventually } from '../support/eventually.js'
import { startService, type TestService } from '../support/service/service.js'
import { expectedMessages } from '../support/streams/event-messages.js'
import { webSocket, withoutCursors } from '../support/streams/transports.js'
import { watchEvents } from '../support/streams/watch-events.js'

/** Rows that the background job looks at before those of the test: some seconds of work. */
const LATER_ROWS = 400

let chain: TestChain
let traffic: Traffic
let service: TestService

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 27 })
})
afterAll(() => chain?.stop())
afterEach(() => service?.close())

async function start(path: string): Promise<void> {
  service = await startService(chain, { DB_PATH: path, [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' })
}

/** Leaves in a database what a version without lists of orders would have written, with many removed events at the end. */
function downgrade(path: string): void {
  const database = new SQLite(path)
  database.exec(`
    delete from orders;
    update events set transaction_hash = null, block_time = null, is_in_orders = null;
    with recursive later(n) as (select 1 union all select n + 1 from later where n < ${LATER_ROWS})
      insert into events select last_sequence + n, chain_id, block_number, block_hash, log_index, type, details, printf('0x%064x', n),
        user, solver, 0, published_at_ms, null, null, null
        from later, event_log, (select * from events order by sequence limit 1);
    update event_log set last_sequence = last_sequence + ${LATER_ROWS};
  `)
  database.close()
}

it('an order that was read before the upgrade was complete has its steps afterwards', async () => {
  const path = temporaryFile()
  await start(path)
  const watch = await watchEvents(service)
  const order = traffic.order()
  const { number } = await traffic.mine([traffic.actions.deposit(order)])
  await traffic.mine([traffic.actions.fill(order)])
  await watch.untilCount(2)
  watch.close()
  await service.close()
  downgrade(path)

  await start(path)
  const read = async () => (await service.get(`/v1/${chain.chainId}/order/${order.orderId}`)).body
  const { deposited, settled, ...early } = await read()
  expect([early.state, deposited, settled]).toEqual(['SETTLED', undefined, undefined])
  const [expected] = await expectedOrders(chain)
  await eventually(
    async () => (await service.get(`/v1/${chain.chainId}/orders`)).body.orders,
    ([listed]) => listed?.settled?.transactionHash !== undefined && listed.deposited !== undefined,
  )
  expect((await service.get(`/v1/${chain.chainId}/orders`)).body.orders).toEqual([expected])
  await eventually(read, (found) => found.settled !== undefined, 5000)
  expect(await read()).toEqual(expected)
  const stream = webSocket.open(service.url, { after: 'earliest' })
  expect(withoutCursors(await stream.take(2)).slice(0, 2)).toEqual(await expectedMessages(chain, number))
  stream.leave()
})
