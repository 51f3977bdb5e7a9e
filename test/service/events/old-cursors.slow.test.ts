import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { writeEventLog } from '../../support/databases/event-log-file.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { startEventService } from '../../support/service/event-service.js'
import { endOn, transports, webSocket } from '../../support/streams/transports.js'

/** More events than are kept in memory: the first ones are only in the database. */
const EVENTS = 9000
const READ = 700
const MADE_UP = 100
const CURSOR_UNKNOWN = { webSocket: 1008, http: 400, rpc: 'OUT_OF_RANGE', reason: 'CURSOR_UNKNOWN' }

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

const forwardedFor = (address: string) => ({ headers: { 'x-forwarded-for': address } })

/** A cursor of the same sequence in a history that never existed. */
const madeUp = (cursor: string) => cursor.replace(/[^.]*$/, 'AAAAAAAA')

async function startWithLog() {
  const path = temporaryFile()
  const oldest = await writeEventLog(path, EVENTS)
  const service = await startEventService([chain], { DB_PATH: path, TRUST_PROXY: '1' })
  onTestFinished(() => service.close())
  const reader = webSocket.open(service.url, { after: oldest })
  const events = await reader.take(READ)
  reader.leave()
  return { service, events, cursors: events.map(({ cursor = '' }) => cursor) }
}

it('cursors of events that are only in the database are accepted, and invented ones rejected, also many at once', async () => {
  const { service, events, cursors } = await startWithLog()
  const flood = cursors
    .slice(0, MADE_UP)
    .map((cursor) => webSocket.open(service.url, { after: madeUp(cursor) }, forwardedFor('198.51.100.1')))
  for (const [index, transport] of transports.entries()) {
    const place = 100 * index
    const stream = transport.open(service.url, { after: cursors[place] ?? '' }, forwardedFor('198.51.100.2'))
    expect(await stream.connected()).toBe(cursors[place])
    const [next] = await stream.take(1)
    expect(next).toEqual(events[place + 1])
    stream.leave()
    const refused = transport.open(service.url, { after: madeUp(cursors[place] ?? '') })
    expect(await refused.ended()).toMatchObject(endOn(transport, CURSOR_UNKNOWN))
  }
  for (const client of flood) {
    expect(await client.ended()).toMatchObject({ status: 1008 })
    expect(client.messages).toEqual([])
  }
})
