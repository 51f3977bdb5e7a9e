import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { type BrokenConnection, openBroken, within } from '../../support/clients/broken-client.js'
import { type Case, casesOf } from '../../support/clients/connection-breaks.js'
import { type ConnectionKind, connectionKinds } from '../../support/clients/connection-kinds.js'
import { createHealthClient } from '../../support/clients/health-client.js'
import { startHonestClient } from '../../support/clients/honest-client.js'
import { createFrameReader, FLAG, FRAME, frame, goAwayFrame } from '../../support/clients/http2-frames.js'
import { createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { startServiceProcess } from '../../support/process/process.js'
import {
  CAN_SEE_RESOURCES,
  type ProcessResources,
  watchResources,
} from '../../support/process/process-resources.js'
import { type Labels, parseMetrics, type Series } from '../../support/service/metrics.js'
import { environmentFor } from '../../support/service/service.js'
import { startHoldingSolver } from '../../support/solvers/holding-solver.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

/** The number of broken connections in each case. */
const CONNECTIONS = 1
/** The number of concurrent cases, so that the test leaves the service some of the machine. */
const CASES_AT_ONCE = 48
/** Within this time, a broken connection must leave nothing open. */
const RELEASE_MS = 2000
/** A session that does not take its responses is destroyed 10 s after it was closed. */
const DESTROY_MS = 10_000
const ROOM_MS = 3000
const MAX_HEAP_GROWTH_BYTES = 5 * 1024 * 1024
/** A service that takes nothing for this long has stopped reading. */
const FLOOD_PAUSE_MS = 3000
/** Much more than the network buffers of responses that a client does not read. */
const FLOOD_BYTES = 24 * 1024 * 1024
/** A thousand pings of a WebSocket client, masked, of the maximum length (RFC 6455, section 5.5). */
const PINGS = Buffer.alloc(1000 * 131, Buffer.concat([Buffer.from([0x89, 0x80 | 125]), Buffer.alloc(129, 1)]))
const MAX_QUOTE_MS = 1500
const CROWD = 200
/** Connections to the chain and to the solver are kept alive for the next requests. */
const MAX_OWN_CONNECTIONS = 100
const WATCHERS_PER_CLIENT = 20
/**
 * Longer than any case takes, so that the service does not give up a request to a solver before its client
 * has left.
 */
const QUOTE_TIMEOUT_MS = '10000'
const NO_STREAM_LIMITS = { MAX_STREAM_CLIENTS_PER_IP: '0', RATE_LIMIT_STREAMS: '0' }
/** A limit that is never reached, so that the service counts. */
const HIGH_LIMITS = { RATE_LIMIT_MAX: '1000000', RATE_LIMIT_ORDER: '1000000', RATE_LIMIT_QUOTE: '1000000' }

let chain: TestChain
let solver: Awaited<ReturnType<typeof startHoldingSolver>>
let service: ReturnType<typeof startServiceProcess>
let url: string
let port: number
let http: ReturnType<typeof createRawHttpClient>
let resources: ReturnType<typeof watchResources>
let honestClient: ReturnType<typeof startHonestClient>
let before: ProcessResources & { heapUsed: number }
/** Files that are open now and were not open before. */
const openedFiles = new Set<string>()
let casesUnderWay = 0
let lastAmount = 1000

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  const environment = { ...environmentFor(chain), QUOTE_TIMEOUT_MS, ...NO_STREAM_LIMITS, ...HIGH_LIMITS }
  const node = { flags: ['--expose-gc'], preload: ['./test/support/process/memory-report.mjs'] }
  service = startServiceProcess(environment, node)
  url = (await service.waitFor(/"url":"([^"]+)"/))[1] ?? ''
  port = Number(new URL(url).port)
  resources = watchResources(service.child.pid ?? 0, port)
  http = createRawHttpClient(url)
  solver = await startHoldingSolver(chain, solverAccounts[0], quoteRequest(chain).amount)
  const post = async (path: string, body: unknown) => {
    const { status, text } = await http.json('POST', path, body)
    return { status, body: text, headers: new Headers() }
  }
  await solver.register({ post })
  await warmUp()
  honestClient = startHonestClient(`${url}/v1/${chain.chainId}/quote`, quoteRequest(chain))
  before = { ...(await resources.look()), heapUsed: await heapUsed() }
  openedFiles.clear()
})

afterAll(async () => {
  await honestClient?.terminate()
  http?.close()
  service?.signal('SIGKILL')
  await service?.exited
  await solver?.close()
  await chain?.stop()
})

const allCasesOf = (kind: ConnectionKind) =>
  casesOf(kind, kind.request({ chain, amount: '1', window: 0xffff }))

/** Requests each kind once, so that everything that the service loads and keeps is there before the count. */
async function warmUp(): Promise<void> {
  const cases = connectionKinds.flatMap(allCasesOf)
  await Promise.all(cases.filter(({ how }) => how.name === 'RST').map(leftBy))
}

let reports = 0

async function heapUsed(): Promise<number> {
  service.signal('SIGUSR2')
  const [, bytes] = await service.waitFor(new RegExp(`memory ${++reports}: heapUsed (\\d+) `))
  return Number(bytes)
}

/** Breaks connections. @returns what the service has kept of them, or why the case failed */
async function leftBy(one: Case): Promise<string | undefined> {
  while (casesUnderWay >= CASES_AT_ONCE) await pause(10)
  casesUnderWay++
  return breakOff(one).finally(() => {
    casesUnderWay--
  })
}

async function breakOff(one: Case): Promise<string | undefined> {
  const amount = String(++lastAmount)
  const { how } = one
  const target = { port, chain, resources, held: solver.held }
  const opening = Array.from({ length: CONNECTIONS }, () => openBroken(target, one, amount))
  const settled = await Promise.allSettled(opening)
  const connections = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  try {
    const failure = settled.find((result) => result.status === 'rejected')
    if (failure !== undefined) return `${one.name}: ${failure.reason}`
    for (const { socket } of connections) if (how.flood !== undefined) socket.write(how.flood)
    if (how.holdMs > 0) await pause(how.holdMs)
    for (const file of (await resources.look()).files) openedFiles.add(file)
    for (const { socket } of connections) if (!how.isAtOnce) how.breakOff(socket)
    return await notReleased(one, amount, connections)
  } finally {
    for (const { socket } of connections) socket.destroy()
  }
}

async function notReleased(
  { name }: Case,
  amount: string,
  connections: readonly BrokenConnection[],
): Promise<string | undefined> {
  let sockets = 0
  const isReleased = await within(RELEASE_MS, async () => {
    const now = await resources.look()
    sockets = connections.filter(
      ({ inode, localPort }) => now.sockets.has(inode ?? '') || now.peers.has(localPort),
    ).length
    return sockets === 0 && solver.held(amount) === 0
  })
  return isReleased ? undefined : `${name}: ${sockets} sockets, ${solver.held(amount)} requests to solvers`
}

/** The series of a metric that are not zero, with their values. */
async function nonZero(name: string, labels?: Labels): Promise<readonly Series[]> {
  const { series } = parseMetrics((await http.send('GET', '/metrics')).text)
  return series(name, labels).filter(({ value }) => value !== 0)
}

describe.skipIf(!CAN_SEE_RESOURCES)(
  'a client that breaks its connection leaves nothing open',
  { concurrent: true },
  () => {
    it.each(connectionKinds)('with $name', async (kind) => {
      const left = await Promise.all(allCasesOf(kind).map(leftBy))
      expect(left.filter((text) => text !== undefined)).toEqual([])
    })

    it('with many connections that it resets together, each with its first request', async () => {
      const [kind] = connectionKinds as [ConnectionKind]
      const { headers } = kind.request({ chain, amount: '1', window: 0 })
      const sockets = Array.from({ length: CROWD }, () => connect(port, '127.0.0.1').on('error', () => {}))
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      for (const socket of sockets) {
        socket.write(headers)
        socket.resetAndDestroy()
      }
      await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')))
      expect(sockets.filter(({ closed }) => !closed)).toEqual([])
    })

    it('with an HTTP/2 session that it closes, but keeps connected and unread', async () => {
      const [kind] = connectionKinds.filter(({ name }) => name === 'a large response over HTTP/2')
      const [one] = allCasesOf(kind as ConnectionKind).filter(
        ({ how }) => how.name === 'zero window, then FIN',
      )
      const target = { port, chain, resources, held: solver.held }
      const { socket } = await openBroken(target, one as Case, '1')
      const answerPing = createFrameReader(({ type, flags, payload }) => {
        if (type === FRAME.ping && flags === 0) socket.write(frame(FRAME.ping, FLAG.ack, 0, payload))
      })
      socket.on('data', answerPing)
      const closed = once(socket, 'close', { signal: AbortSignal.timeout(DESTROY_MS + ROOM_MS) })
      socket.resume().write(goAwayFrame)
      await expect(closed, 'the service closes the connection in time').resolves.toBeDefined()
    })
  },
)

describe('the service after broken connections', () => {
  it('does not grow with what a WebSocket client sends that reads nothing', async ({ annotate }) => {
    const start = await heapUsed()
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const handshake = connectionKinds.find(({ protocol }) => protocol === 'WebSocket')
    socket.write(handshake?.request({ chain, amount: '1', window: 0 }).headers ?? '')
    await once(socket, 'data')
    socket.pause()
    let sent = 0
    const isTaken = () => socket.destroyed || !socket.writableNeedDrain
    while (sent < FLOOD_BYTES && !socket.destroyed && (await within(FLOOD_PAUSE_MS, isTaken))) {
      socket.write(PINGS)
      sent += PINGS.length
    }
    const end = await heapUsed()
    socket.destroy()
    await annotate(`${sent} bytes sent, the heap grew by ${end - start}`)
    expect(end - start).toBeLessThan(MAX_HEAP_GROWTH_BYTES)
  })

  it('has served another client all the time', async ({ annotate }) => {
    const { statuses, slowestMs } = await honestClient.stop()
    await annotate(`${JSON.stringify(statuses)}, the slowest in ${slowestMs | 0} ms`)
    expect(Object.keys(statuses)).toEqual(['200'])
    expect(slowestMs).toBeLessThan(MAX_QUOTE_MS)
  })

  it('has no stream place in use', async () => {
    let taken: readonly Series[] = []
    await within(RELEASE_MS, async () => {
      taken = await nonZero('aggregator_stream_clients')
      return taken.length === 0
    })
    expect(taken).toEqual([])
  })

  it('has room for the maximum of health watchers of one client', async () => {
    const health = createHealthClient(url)
    const watches = Array.from({ length: WATCHERS_PER_CLIENT }, () => health.watch(''))
    expect(new Set(await Promise.all(watches.map((watch) => watch.next())))).toEqual(new Set(['SERVING']))
    for (const watch of watches) watch.cancel()
    health.close()
  })

  it('has no open request to a solver', () => {
    expect(solver.held()).toBe(0)
  })

  it.skipIf(!CAN_SEE_RESOURCES)('has as many open sockets and files as before', async ({ annotate }) => {
    const accepted = ({ sockets, outgoing }: ProcessResources) => sockets.size - outgoing
    let now = await resources.look()
    await within(RELEASE_MS, async () => {
      now = await resources.look()
      return accepted(now) <= accepted(before)
    })
    await annotate(
      `sockets: ${accepted(before)}, then ${accepted(now)}; files: ${before.files.length}, then ${now.files.length}; own connections: ${before.outgoing}, then ${now.outgoing}`,
    )
    expect(accepted(now)).toBeLessThanOrEqual(accepted(before))
    expect(now.files).toEqual(before.files)
    expect([...openedFiles].filter((file) => !before.files.includes(file))).toEqual([])
    expect(now.outgoing).toBeLessThanOrEqual(MAX_OWN_CONNECTIONS)
  })

  it('has a heap as large as before', async ({ annotate }) => {
    const growth = (await heapUsed()) - before.heapUsed
    await annotate(`the heap grew by ${growth} bytes`)
    expect(growth).toBeLessThan(MAX_HEAP_GROWTH_BYTES)
  })

  it('has counted and logged no failure of its own', async () => {
    expect(await nonZero('aggregator_requests_total', { reason: 'INTERNAL' })).toEqual([])
    expect(
      service
        .output()
        .split('\n')
        .filter((line) => line.includes('"level":50')),
    ).toEqual([])
  })
})
