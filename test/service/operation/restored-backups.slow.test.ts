import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { restorableDatabases } from '../../support/databases/database-backup.js'
import { startService, type TestService } from '../../support/service/service.js'
import { expectedMessages, type StreamMessage, standing } from '../../support/streams/event-messages.js'
import type { StreamClient } from '../../support/streams/stream-clients.js'
import { endOn, eventSource, grpc, webSocket } from '../../support/streams/transports.js'

const CURSOR_UNKNOWN = { webSocket: 1008, http: 400, rpc: 'OUT_OF_RANGE', reason: 'CURSOR_UNKNOWN' }

let chain: TestChain
let traffic: Traffic

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  traffic = await createTraffic(chain, { seed: 61 })
})
afterAll(() => chain?.stop())

const start = (environment: Record<string, string>) =>
  startService(chain, { ...environment, [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' })

const cursorsOf = (messages: readonly StreamMessage[]) => messages.map(({ cursor = '' }) => cursor)
const wasAccepted = (client: StreamClient) =>
  client.connected().then(
    () => true,
    () => false,
  )

/** Mines blocks with a deposit in each. @returns all messages about them, with the first one of the stream */
async function follow(service: TestService, blocks: number): Promise<StreamMessage[]> {
  const stream = webSocket.open(service.url)
  await stream.connected()
  for (let left = blocks; left > 0; left--) await traffic.mine([traffic.actions.deposit(traffic.order())])
  await stream.take(blocks)
  stream.leave()
  return stream.messages
}

/**
 * Follows five events, backs up and follows another three. Then the chain drops these, the backup is
 * restored, and the log grows past them again.
 */
async function restoreAndGrow(make: (typeof restorableDatabases)[0][1]) {
  const database = await make()
  let service = await start(database.environment)
  const fromBlock = (await traffic.head()).number + 1
  const kept = await follow(service, 5)
  await service.close()
  await database.backUp()

  service = await start(database.environment)
  const [, ...lost] = await follow(service, 3)
  await service.close()
  await traffic.reorganise(3, [[traffic.actions.deposit(traffic.order())]])
  await database.restore()

  service = await start(database.environment)
  const last = await follow(service, 8)
  return { service, fromBlock, kept: cursorsOf(kept), lost: cursorsOf(lost), end: last.at(-1)?.cursor ?? '' }
}

describe.each(restorableDatabases)('after a restored backup has grown on %s', (_kind, make) => {
  it('cursors from after the backup are rejected, and those from before it continue', async () => {
    const { service, fromBlock, kept, lost, end } = await restoreAndGrow(make)
    for (const after of lost) {
      for (const transport of [webSocket, eventSource, grpc]) {
        const refused = transport.open(service.url, { after })
        expect(await wasAccepted(refused)).toBe(false)
        expect(await refused.ended()).toMatchObject(endOn(transport, CURSOR_UNKNOWN))
      }
    }
    const expected = await expectedMessages(chain, fromBlock)
    for (const [index, cursor] of kept.entries()) {
      const stream = webSocket.open(service.url, { after: cursor })
      await stream.until((message) => message.cursor === end)
      expect(standing(stream.events())).toEqual(expected.slice(index))
      stream.leave()
    }
    await service.close()
  })
})
