import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { type ChattySettlement, deployChattySettlement } from '../../support/chain/chatty-settlement.js'
import { eventually } from '../../support/eventually.js'
import { startServiceProcess } from '../../support/process/process.js'
import { environmentForAll } from '../../support/service/event-service.js'
import { readMetrics } from '../../support/service/metrics.js'
import { expectedMessages } from '../../support/streams/event-messages.js'
import { grpcWire } from '../../support/streams/rpc-clients.js'
import {
  openStream,
  type StreamClient,
  type StreamEnd,
  sseWire,
  type Wire,
  webSocketWire,
} from '../../support/streams/stream-clients.js'
import { withoutCursors } from '../../support/streams/transports.js'

const NODE = { flags: ['--expose-gc'], preload: ['./test/support/process/memory-report.mjs'] }
const EVENTS_PER_BLOCK = 400
/** More than the service keeps in memory, so that its memory is at its maximum before the measurement. */
const WARM_UP = 8400
const BLOCKS_BEFORE = 6
/** Some megabytes for each client: more than the network buffers for one that does not read. */
const BLOCKS_MEANWHILE = 36
/**
 * HTTP/2 buffers far less: a client that does not read is detected earlier there, and stops later for that
 * reason.
 */
const BLOCKS_WITH_GRPC = 10
const MAX_GROWTH_BYTES = 20 * 1024 * 1024

interface Kind {
  readers: number
  stopping: number
  follow: () => Follower
  open: (after?: string) => StreamClient
  /** How clients that stop are closed, as they see it when they read again. */
  end: Partial<StreamEnd>
}

const KINDS: [Kind, Kind, Kind] = [
  {
    readers: 228,
    stopping: 12,
    follow: followWith(webSocketWire),
    open: openWith(webSocketWire),
    end: { status: 1013 },
  },
  { readers: 36, stopping: 4, follow: followWith(sseWire), open: openWith(sseWire), end: { status: 200 } },
  {
    readers: 16,
    stopping: 4,
    follow: followWith(grpcWire),
    open: openWith(grpcWire),
    end: { status: 'RESOURCE_EXHAUSTED', reason: 'SUBSCRIBER_TOO_SLOW' },
  },
]
const STOPPING = 20

let chain: TestChain
let chatty: ChattySettlement
let service: ReturnType<typeof startServiceProcess>
let url: string
const cleanUps: (() => void)[] = []

beforeAll(async () => {
  const quiet = await startChain({ bonded: 0 })
  chatty = await deployChattySettlement(quiet.devnet, quiet.contracts.bondToken)
  chain = { ...quiet, contracts: { ...quiet.contracts, settlement: chatty.address } }
  service = startServiceProcess({ ...environmentForAll([chain]), LOG_LEVEL: 'info' }, NODE)
  url = (await service.waitFor(/"url":"([^"]+)"/))[1] ?? ''
})

afterAll(async () => {
  for (const cleanUp of cleanUps) cleanUp()
  service?.signal('SIGKILL')
  await service?.exited
  await chain?.stop()
})

/** A client of which only digests are kept: one of the messages up to each block's end, with the time. */
interface Follower {
  connected: Promise<void>
  blocks: { digest: string; at: number }[]
}

function followWith<Raw extends string | Buffer>(wire: Wire<Raw>) {
  return (): Follower => {
    const hash = createHash('sha1')
    const blocks: Follower['blocks'] = []
    let count = -1
    const connected = new Promise<void>((resolve, reject) => {
      const connection = wire.connect(
        url,
        {},
        {},
        {
          onMessage(raw) {
            count++
            if (count === 0) return resolve()
            hash.update(raw)
            if (count % EVENTS_PER_BLOCK !== 0) return
            blocks.push({ digest: hash.copy().digest('hex'), at: performance.now() })
          },
          onEnd: (end) => reject(new Error(JSON.stringify(end))),
        },
      )
      cleanUps.push(connection.leave)
    })
    return { connected, blocks }
  }
}

function openWith<Raw>(wire: Wire<Raw>) {
  return (after?: string): StreamClient => {
    const client = openStream(wire, url, after === undefined ? {} : { after })
    cleanUps.push(client.leave)
    return client
  }
}

let reports = 0
let seed = 0

async function heapUsed(): Promise<number> {
  service.signal('SIGUSR2')
  const [, bytes] = await service.waitFor(new RegExp(`memory ${++reports}: heapUsed (\\d+) `))
  return Number(bytes)
}

const drops = async () => (await readMetrics(url)).value('aggregator_stream_drops_total')

/** Mines blocks, each one after all clients have the one before. @returns how long each took, in ms */
async function broadcast(blocks: number, followers: readonly Follower[]): Promise<number[]> {
  const latencies: number[] = []
  for (let block = 0; block < blocks; block++) {
    const place = followers[0]?.blocks.length ?? 0
    await chatty.emitEvents({ events: EVENTS_PER_BLOCK, eventsPerBlock: EVENTS_PER_BLOCK, seed: ++seed })
    const minedAt = performance.now()
    await eventually(
      async () => followers.every((follower) => follower.blocks.length > place),
      (isThere) => isThere,
    )
    latencies.push(Math.max(...followers.map((follower) => follower.blocks[place]?.at ?? 0)) - minedAt)
  }
  return latencies
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const namesOf = (messages: ReturnType<StreamClient['events']>) =>
  messages.map(({ cursor, type, orderId }) => `${cursor} ${type} ${orderId}`)

it('subscribers that do not read are closed, keep their cursor, and do not delay others', async ({
  annotate,
}) => {
  const witness = openWith(webSocketWire)()
  await witness.connected()
  const { fromBlock } = await chatty.emitEvents({ events: WARM_UP, eventsPerBlock: 600, seed: ++seed })
  await witness.take(WARM_UP)

  const crowd = KINDS.map((kind) => {
    const followers = Array.from({ length: kind.readers - 1 }, kind.follow)
    return { ...kind, followers, reader: kind.open() }
  })
  const followers = crowd.flatMap((kind) => kind.followers)
  await Promise.all(followers.map(({ connected }) => connected))
  await Promise.all(crowd.map(({ reader }) => reader.connected()))
  const before = await broadcast(BLOCKS_BEFORE, followers)
  const heapBefore = await heapUsed()

  const stopOn = async ({ stopping, open }: Kind) => {
    const clients = Array.from({ length: stopping }, () => open())
    await Promise.all(clients.map((client) => client.connected().then(client.pause)))
    return clients
  }
  const [sockets, eventSources, calls] = KINDS
  const stoppers = [await stopOn(sockets), await stopOn(eventSources)]
  const meanwhile = await broadcast(BLOCKS_MEANWHILE - BLOCKS_WITH_GRPC, followers)
  stoppers.push(await stopOn(calls))
  meanwhile.push(...(await broadcast(BLOCKS_WITH_GRPC, followers)))
  await eventually(drops, (count = 0) => count >= STOPPING)
  const heapAfter = await heapUsed()
  for (const client of stoppers.flat()) client.resume()
  await Promise.all(stoppers.flat().map((client) => client.ended()))

  const [medianBefore, medianMeanwhile] = [median(before), median(meanwhile)]
  await annotate(
    `${before.length} blocks in ${medianBefore | 0} ms, then ${meanwhile.length} in ${medianMeanwhile | 0} ms; heap ${heapBefore}, then ${heapAfter}`,
  )
  expect(await drops()).toBe(stoppers.flat().length)
  expect(medianMeanwhile).toBeLessThan(3 * medianBefore + 500)
  expect(heapAfter - heapBefore).toBeLessThan(MAX_GROWTH_BYTES)

  const blocks = before.length + meanwhile.length
  const all = await witness.take(WARM_UP + blocks * EVENTS_PER_BLOCK)
  expect(withoutCursors(all)).toEqual(await expectedMessages(chain, fromBlock))
  for (const { reader, followers } of crowd) {
    expect(await reader.take(blocks * EVENTS_PER_BLOCK)).toEqual(all.slice(WARM_UP))
    // All of a kind have got the same bytes.
    expect(new Set(followers.map(({ blocks }) => blocks.map(({ digest }) => digest).join())).size).toBe(1)
    expect(followers[0]?.blocks).toHaveLength(blocks)
  }

  for (const [index, { end, open }] of crowd.entries()) {
    for (const client of stoppers[index] ?? []) {
      expect(await client.ended()).toMatchObject(end)
      const back = open(client.cursor())
      await back.until(({ cursor }) => cursor === all.at(-1)?.cursor)
      const start = all.findIndex(({ cursor }) => cursor === client.messages[0]?.cursor)
      expect(back.events().length).toBeGreaterThan(0)
      expect(namesOf([...client.events(), ...back.events()])).toEqual(namesOf(all.slice(start + 1)))
      back.leave()
    }
  }
})
