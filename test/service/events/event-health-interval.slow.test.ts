import { expect, it } from 'vitest'
import { useProxiedChain } from '../../support/faults/proxied-chain.js'
import type { HealthMessage, StreamMessage } from '../../support/streams/event-messages.js'
import type { StreamClient } from '../../support/streams/stream-clients.js'
import { oneOfEach, openAll } from '../../support/streams/transports.js'

const on = useProxiedChain({ seed: 83 })
const isHealth = (message: StreamMessage): message is HealthMessage => message.type === 'Health'
const isDown = (message: StreamMessage) => isHealth(message) && message.chains[0]?.status === 'down'

/** The statuses of the chain that a client was told. */
const reportsOf = ({ messages }: StreamClient) =>
  messages.filter(isHealth).map(({ chains }) => chains[0]?.status)

/** Mines a deposit, and waits until clients have it. */
async function deposit(clients: readonly StreamClient[], order = on.traffic.order()): Promise<void> {
  const counts = clients.map(({ events }) => events().length)
  await on.traffic.mine([on.traffic.actions.deposit(order)])
  await Promise.all(clients.map(({ take }, index) => take((counts[index] ?? 0) + 1)))
}

it('streams report the health every 15 s, with and without events between, and go on after their cursor', async () => {
  await on.start()
  const busy = await openAll(on.service.url, { health: true }, oneOfEach)
  const quiet = await openAll(on.service.url, { health: true, type: ['Settled'] }, oneOfEach)
  const late = on.traffic.order()
  const surprised = await openAll(on.service.url, { health: true, orderId: [late.orderId] }, oneOfEach)
  await Promise.all([...busy, ...quiet, ...surprised].map(({ until }) => until(isHealth)))
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  while (seconds() < 10) await deposit(busy)
  await deposit([...busy, ...surprised], late)
  while (busy.some((client) => reportsOf(client).length < 2)) await deposit(busy)
  expect(seconds()).toBeGreaterThan(14)
  // An event shortly before does not put the report off.
  const hasTwo = (client: StreamClient) => client.until(() => reportsOf(client).length > 1)
  await Promise.all([...quiet, ...surprised].map(hasTwo))
  expect(seconds()).toBeLessThan(20)

  on.rpc.setUp(false)
  await Promise.all([...busy, ...quiet].map(({ until }) => until(isDown)))
  for (const client of busy) expect(reportsOf(client)).toEqual(['ok', 'ok', 'down'])
  for (const client of quiet) expect(client.events()).toEqual([])

  const resumed = quiet.map((client, index) =>
    oneOfEach[index]?.open(on.service.url, { after: client.cursor() }),
  ) as StreamClient[]
  await Promise.all(resumed.map(({ connected }) => connected()))
  on.rpc.setUp(true)
  await deposit([...busy, ...resumed])
  for (const client of resumed) expect(client.events()).toHaveLength(1)
  for (const client of [...busy, ...quiet, ...surprised, ...resumed]) client.leave()
})
