import { beforeAll, expect, it } from 'vitest'
import { createTraffic } from '../../support/chain/event-traffic.js'
import type { Order } from '../../support/chain/order-actions.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startEventService } from '../../support/service/event-service.js'
import { shared } from '../../support/shared.js'
import {
  type EventMessage,
  expectedMessages,
  type RevertedMessage,
} from '../../support/streams/event-messages.js'
import type { StreamRequest } from '../../support/streams/stream-clients.js'
import {
  eventSource,
  openAll,
  transports,
  webSocket,
  withoutCursors,
} from '../../support/streams/transports.js'

/** More than the service reads or sends at once. */
const HISTORY = 600

const chains = await Promise.all([
  shared(startModelChain({ bonded: 0 })),
  shared(startModelChain({ chainId: 31338, bonded: 0 })),
])
const traffics = await Promise.all([
  createTraffic(chains[0], { seed: 21 }),
  createTraffic(chains[1], { seed: 22 }),
])
const [{ actions, head, mine, order, run }, other] = traffics
/** Deposited before the service started. */
const early = order((await head()).timestamp)
await mine([actions.deposit(early)])
const service = await shared(startEventService(chains))
/** Connected from the beginning. */
const witness = await shared(webSocket.open(service.url))
const start = await witness.connected()

beforeAll(async () => {
  const firsts = (await head()).number + 1
  await mine([actions.refund(early)])
  await Promise.all([run({ events: HISTORY, blocks: 5 }), other.run({ events: 60, blocks: 6 })])
  const received = await witness.take(HISTORY + 61)
  const ofFirst = received.filter(({ chainId }) => chainId === chains[0].chainId)
  expect(withoutCursors(ofFirst)).toEqual(await expectedMessages(chains[0], firsts))
})

/** Mines a few events on both chains. @returns all messages since the service's start */
async function goOn(events = 10) {
  const before = witness.events().length
  await Promise.all(traffics.map((traffic) => traffic.run({ events, blocks: 3 })))
  return witness.take(before + 2 * events)
}

const followers = (cursor: string) => {
  const received = witness.events()
  return received.slice(received.findIndex((message) => message.cursor === cursor) + 1)
}

it.each(transports)(
  'a stream over $name continues from the middle while new blocks come',
  async (transport) => {
    const middle = witness.events()[HISTORY / 2]?.cursor ?? ''
    const mining = goOn(20)
    const client = transport.open(service.url, { after: middle })
    await client.take(100)
    await mining
    const expected = followers(middle)
    expect(await client.take(expected.length)).toEqual(expected)
    client.leave()
  },
)

it('Last-Event-ID, which browsers send when they reconnect, takes precedence over `after`', async () => {
  const [older, newer] = [witness.events().at(-20)?.cursor ?? '', witness.events().at(-5)?.cursor ?? '']
  const headers = { 'last-event-id': newer }
  for (const request of [{}, { after: older }, { after: 'no cursor' }]) {
    const client = eventSource.open(service.url, request, { headers })
    expect(await client.connected()).toBe(newer)
    expect(await client.take(4)).toEqual(followers(newer))
    client.leave()
  }
})

it('filters admit what matches each of them, in replays and live, on every transport', async () => {
  const [first] = traffics
  const isLate = ({ fillDeadline }: Order) => fillDeadline > 4_000_000_000
  const filled = first.openOrders().filter(isLate).slice(0, 3)
  const [{ user } = expect.unreachable(), { solver } = expect.unreachable()] = filled
  const upper = (hex: string) => hex.toUpperCase().replace('0X', '0x')
  const filters: [StreamRequest, (message: EventMessage | RevertedMessage, order: Order) => boolean][] = [
    [{ orderId: filled.map(({ orderId }) => upper(orderId)) }, (_, order) => filled.includes(order)],
    [{ chainId: [31337], user: [user] }, ({ chainId }, order) => chainId === 31337 && order.user === user],
    // The contract does not name the solver of a refund.
    [
      { solver: [solver.address, early.solver.address], type: ['Refunded', 'Settled'] },
      ({ type }, order) => type !== 'Deposited' && [solver, early.solver].includes(order.solver),
    ],
  ]
  const opened = await Promise.all(
    filters.map(([request]) => openAll(service.url, { after: start, ...request })),
  )
  const replayed = witness.events().length
  await first.mine(filled.map(first.actions.fill))
  await witness.take(replayed + 3)
  const all = await goOn(80)

  const actions = traffics.flatMap((traffic) => traffic.actionsAfter(0))
  const orders = new Map(actions.map(({ order }) => [order.orderId as string, order]))
  for (const [index, [request, isWanted]] of filters.entries()) {
    const expected = all.filter((message) => isWanted(message, orders.get(message.orderId) as Order))
    const live = expected.filter((message) => all.indexOf(message) >= replayed)
    expect(live.length, JSON.stringify(request)).toBeGreaterThan(0)
    expect(expected.length).toBeGreaterThan(live.length)
    for (const client of opened[index] ?? []) {
      expect(await client.take(expected.length)).toEqual(expected)
      client.leave()
    }
  }
})
