import { expect, it, onTestFinished } from 'vitest'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { makeRestorablePostgres } from '../../support/databases/database-backup.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startReplicaProcesses } from '../../support/replicas/replica-processes.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import {
  endOn,
  eventSource,
  grpc,
  type StreamTransport,
  webSocket,
} from '../../support/streams/transports.js'

const TRANSPORTS = [webSocket, eventSource, grpc]
const CURSOR_UNKNOWN = { webSocket: 1008, http: 400, rpc: 'OUT_OF_RANGE', reason: 'CURSOR_UNKNOWN' }

const chain = await shared(startModelChain({ bonded: 0 }))
const traffic = await createTraffic(chain, { seed: 71 })

/** Mines a block with a deposit in it. @returns the order's id */
async function deposit(): Promise<string> {
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  return order.orderId
}

/**
 * How a transport reports that a stream has ended because its cursor is no longer known. Server-sent events
 * cannot.
 */
const endOfRunning = (transport: StreamTransport) =>
  transport === eventSource ? { status: 200 } : endOn(transport, CURSOR_UNKNOWN)

/**
 * Replica processes that reach a database by a link that can be cut, so that it can be copied and replaced.
 */
async function startReplaceable() {
  const database = await makeRestorablePostgres()
  const link = await startDatabaseLink(database.url)
  onTestFinished(() => link.close())
  const environment = { [`POLL_INTERVAL_MS_${chain.chainId}`]: '20' }
  const fleet = await startReplicaProcesses(chain, link.url, { size: 2, environment })
  onTestFinished(() => fleet.stop())
  async function whileCut(work: () => Promise<unknown>): Promise<void> {
    link.cut()
    await work()
    link.restore()
  }
  return {
    fleet,
    backUp: () => whileCut(database.backUp),
    failOver: (meanwhile: () => Promise<unknown>) =>
      whileCut(async () => {
        await database.restore()
        await meanwhile()
      }),
  }
}

it('replicas end their streams when a standby without the last events takes over, and continue from its log', async () => {
  const { fleet, backUp, failOver } = await startReplaceable()
  const fromBlock = (await traffic.head()).number + 1
  const open = (after?: string) =>
    fleet.replicas.flatMap(({ url }) =>
      TRANSPORTS.map((transport) => ({
        transport,
        stream: transport.open(url, after === undefined ? {} : { after }),
      })),
    )
  const running = open()
  const begin = (await Promise.all(running.map(({ stream }) => stream.connected())))[0] ?? ''
  for (let left = 4; left > 0; left--) await deposit()
  await Promise.all(running.map(({ stream }) => stream.take(4)))
  await backUp()
  for (let left = 6; left > 0; left--) await deposit()
  await Promise.all(running.map(({ stream }) => stream.take(10)))
  const cursors = running[0]?.stream.events().map(({ cursor = '' }) => cursor) ?? []

  await failOver(() => traffic.reorganise(6, [[traffic.actions.deposit(traffic.order())]]))
  const last = await deposit()
  for (const { transport, stream } of running)
    expect(await stream.ended()).toMatchObject(endOfRunning(transport))
  for (const replica of fleet.replicas) {
    await eventually(
      async () => replica.output(),
      (output) => output.includes('is not the one that was sent to subscribers'),
    )
    expect(await replica.metric('aggregator_event_log_replacements_total')).toBe(1)
  }

  const replaying = open(begin)
  const isLast = (message: object) => 'orderId' in message && message.orderId === last
  for (const { stream } of replaying) await stream.until(isLast)
  const live = open()
  await Promise.all(live.map(({ stream }) => stream.connected()))
  const later = [await deposit(), await deposit(), await deposit(), await deposit()]
  for (const { stream } of live) {
    expect((await stream.take(4)).map(({ orderId }) => orderId)).toEqual(later)
  }
  const expected = await expectedMessages(chain, fromBlock)
  for (const { stream } of replaying) {
    await stream.until((message) => 'orderId' in message && message.orderId === later.at(-1))
    expect(standing(stream.events())).toEqual(expected)
    expect(stream.events()).toEqual(replaying[0]?.stream.events())
  }
  // The log has grown past all of these by now.
  for (const after of cursors.slice(4)) {
    for (const { transport, stream } of open(after))
      expect(await stream.ended()).toMatchObject(endOn(transport, CURSOR_UNKNOWN))
  }
  for (const { stream } of open(cursors[3])) expect(await stream.connected()).toBe(cursors[3])
  for (const { stream } of [...replaying, ...live]) stream.leave()
})
