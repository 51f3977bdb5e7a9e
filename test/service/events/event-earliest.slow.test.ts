import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { passChainTime } from '../../support/chain/pass-time.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { startService, type TestService } from '../../support/service/service.js'
import { type EventMessage, expectedMessages, standing } from '../../support/streams/event-messages.js'
import { eventSource, transports, webSocket, withoutCursors } from '../../support/streams/transports.js'

const DAY_MS = 86_400_000
const EARLIEST = { after: 'earliest' }

let chain: TestChain
let traffic: Traffic
let service: TestService

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  // So that the clock of the service decides, as long as it is not further ahead.
  await passChainTime(chain, 5 * DAY_MS)
  traffic = await createTraffic(chain, { seed: 24 })
})
afterAll(() => chain?.stop())
afterEach(() => service?.close())

async function start(environment: Record<string, string> = {}, now = Date.now): Promise<void> {
  const poll = { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' }
  service = await startService(chain, { ...poll, ...environment }, { clock: { ...systemClock, now } })
}

/** Makes events while a client follows them. @returns them by the chain's own logs */
async function publish(events: number): Promise<EventMessage[]> {
  const live = webSocket.open(service.url)
  await live.connected()
  const { fromBlock } = await traffic.run({ events, blocks: 3 })
  await live.take(events)
  live.leave()
  return expectedMessages(chain, fromBlock)
}

/** Everything that a new client of each transport gets, up to a number of events. */
async function replay(transport: (typeof transports)[number], request: object, count: number) {
  const client = transport.open(service.url, { ...EARLIEST, ...request })
  const events = await client.take(count)
  client.leave()
  return { events: withoutCursors(events), first: client.messages[0], cursor: client.cursor() }
}

describe('`after=earliest`', () => {
  it('replays the log from its first event and goes on live, on every transport', async () => {
    await start()
    const old = await publish(12)
    const opened = transports.map(({ name, open }) => ({ name, open, client: open(service.url, EARLIEST) }))
    const cursors = await Promise.all(opened.map(({ client }) => client.connected()))
    await Promise.all(opened.map(({ client }) => client.take(old.length)))
    const young = await publish(3)
    for (const [index, { name, open, client }] of opened.entries()) {
      const events = await client.take(old.length + young.length)
      client.leave()
      expect(withoutCursors(events), name).toEqual([...old, ...young])
      // Both the cursor of `connected` and those of events continue.
      for (const [after, rest] of [
        [cursors[index] ?? '', events],
        [events[4]?.cursor ?? '', events.slice(5)],
      ] as const) {
        const resumed = open(service.url, { after })
        expect(await resumed.take(rest.length), name).toEqual(rest)
        resumed.leave()
      }
    }
  })

  it('waits for the first event of an empty log, on every transport', async () => {
    await start()
    const clients = transports.map(({ open }) => open(service.url, EARLIEST))
    await Promise.all(clients.map((client) => client.connected()))
    const events = await publish(2)
    for (const [index, client] of clients.entries()) {
      expect(withoutCursors(await client.take(2)), transports[index]?.name).toEqual(events)
      client.leave()
    }
  })

  it('replays only what matches the filters, on every transport', async () => {
    await start()
    const all = await publish(40)
    const deposits = all.filter(({ type }) => type === 'Deposited')
    const [first] = deposits
    if (first?.type !== 'Deposited') throw new Error('a deposit is the first of these events')
    const { user, orderId } = first
    const own = deposits.filter((event) => 'user' in event && event.user === user)
    const cases = [
      [{ type: ['Deposited'] }, deposits],
      [{ type: ['Deposited'], user: [user] }, own],
      [{ orderId: [orderId] }, all.filter((event) => event.orderId === orderId)],
    ] as const
    for (const transport of transports)
      for (const [filter, expected] of cases)
        expect((await replay(transport, filter, expected.length)).events, transport.name).toEqual(expected)
  })

  it('replays events that a reorganisation has removed, and their removal', async () => {
    await start()
    const { number } = await traffic.head()
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    const live = webSocket.open(service.url, EARLIEST)
    await live.take(1)
    await traffic.reorganise(1, [[traffic.actions.deposit(traffic.order())]])
    await live.take(3)
    live.leave()
    const client = webSocket.open(service.url, EARLIEST)
    const events = await client.take(3)
    client.leave()
    expect(events.map(({ type }) => type)).toEqual(['Deposited', 'Reverted', 'Deposited'])
    expect(standing(events)).toEqual(await expectedMessages(chain, number + 1))
  })

  it('begins with the oldest event that retention has kept, on every transport', async () => {
    const environment = { DB_PATH: temporaryFile(), EVENT_RETENTION_DAYS: '3' }
    await start(environment)
    const removed = await publish(5)
    await service.close()
    const later = () => Date.now() + 4 * DAY_MS
    await start(environment, later)
    const kept = await publish(4)
    await service.close()

    await start(environment, later)
    // Retention removes the old events in the background.
    await eventually(
      () => replay(webSocket, {}, 1),
      ({ events }) => events[0]?.orderId === kept[0]?.orderId,
    )
    const replays = []
    for (const transport of transports) {
      const { events, first, cursor } = await replay(transport, {}, kept.length)
      expect(events, transport.name).toEqual(kept)
      const filter = { type: ['Deposited', 'Settled', 'Refunded'] }
      expect((await replay(transport, filter, 4)).events, transport.name).toEqual(kept)
      replays.push({ transport, first, cursor })
    }
    // The order is still listed after its events have left the log.
    const { body } = await service.get(`/v1/${chain.chainId}/orders?user=${userOf(removed)}&pageSize=200`)
    expect(body.orders.map(({ orderId }: EventMessage) => orderId)).toContain(removed[0]?.orderId)
    const young = await publish(1)
    for (const { transport, first, cursor } of replays)
      for (const after of [first?.cursor ?? '', cursor]) {
        const resumed = transport.open(service.url, { after })
        const rest = await resumed.take(after === cursor ? 1 : kept.length + 1)
        expect(withoutCursors(rest).slice(-1), transport.name).toEqual(young)
        resumed.leave()
      }
  })
})

describe('`Last-Event-ID` takes precedence', () => {
  it('over `after=earliest`', async () => {
    await start()
    const all = await publish(6)
    const client = eventSource.open(service.url, EARLIEST)
    const events = await client.take(6)
    client.leave()
    const headers = { 'last-event-id': events[3]?.cursor ?? '' }
    const resumed = eventSource.open(service.url, EARLIEST, { headers })
    expect(withoutCursors(await resumed.take(2))).toEqual(all.slice(4))
    resumed.leave()
    const invalid = eventSource.open(service.url, EARLIEST, { headers: { 'last-event-id': 'nonsense' } })
    expect(await invalid.ended()).toMatchObject({ status: 400, reason: 'CURSOR_UNKNOWN' })
  })

  it('over a cursor, also when it is the word itself', async () => {
    await start()
    const all = await publish(3)
    const { cursor } = await replay(eventSource, {}, 3)
    const headers = { 'last-event-id': 'earliest' }
    const client = eventSource.open(service.url, { after: cursor }, { headers })
    expect(withoutCursors(await client.take(3))).toEqual(all)
    client.leave()
  })
})

it('no other word or letter case is a position', async () => {
  await start()
  for (const after of ['EARLIEST', 'Earliest', 'earliest ', 'latest', 'earliest.0'])
    expect(await webSocket.open(service.url, { after }).ended()).toMatchObject({ status: 1008 })
})

function userOf([first]: readonly EventMessage[]): string {
  return first !== undefined && 'user' in first ? first.user : ''
}
