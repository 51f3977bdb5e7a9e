import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest'
import { isReachable, isVisible, now } from '../src/data/clock.js'
import { connection, followEvents, latestEvents, onEvent, reportedHealth } from '../src/data/events.js'

// The page's own clock begins as it is loaded.
await vi.hoisted(async () => {
  vi.useFakeTimers()
  ;(await import('./page-globals.js')).stubPage()
})

/** A socket that the test answers on. */
class Socket {
  static readonly opened: Socket[] = []
  onmessage: ((message: { data: string }) => void) | null = null
  onclose: ((end: { code: number }) => void) | null = null
  isClosed = false
  readonly after: string | null

  constructor(url: URL) {
    this.after = url.searchParams.get('after')
    Socket.opened.push(this)
  }

  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) })
  }

  close(): void {
    this.isClosed = true
  }
}

const last = () => Socket.opened.at(-1) as Socket
const event = (blockNumber: number) => ({
  ...{ type: 'Deposited', chainId: 1, orderId: '0xaa', blockNumber, logIndex: 0, transactionHash: '0x01' },
  cursor: `c${blockNumber}`,
})

vi.stubGlobal('WebSocket', Socket)
followEvents()

beforeEach(() => {
  isVisible.value = true
  last().say({ type: 'connected', supportedChains: [1], cursor: 'c0' })
})
afterEach(() => vi.runOnlyPendingTimers())
afterAll(() => {
  isVisible.value = false
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('the stream goes on after its last message when it was lost, and begins anew when its place is not known any more', () => {
  last().say(event(5))
  last().onclose?.({ code: 1006 })
  expect(connection.value.state).toBe('lost')
  vi.advanceTimersByTime(1500)
  expect(last().after).toBe('c5')
  last().onclose?.({ code: 1008 })
  vi.advanceTimersByTime(15_000)
  expect(last().after).toBeNull()
})

it('a stream without any message for long is opened again, also one that said so late', () => {
  const silent = last()
  now.value = Date.now() + 20_000
  expect(silent.isClosed).toBe(false)
  now.value = Date.now() + 45_000
  expect([silent.isClosed, silent.onclose, connection.value.state]).toEqual([true, null, 'lost'])
  vi.advanceTimersByTime(1500)
  expect(last()).not.toBe(silent)
})

it('a hidden tab, and one whose instance does not answer, has no stream', () => {
  for (const state of [isVisible, isReachable]) {
    const before = last()
    const count = Socket.opened.length
    state.value = false
    expect([before.isClosed, Socket.opened.length]).toEqual([true, count])
    state.value = true
    expect(Socket.opened).toHaveLength(count + 1)
    last().say({ type: 'connected', supportedChains: [1], cursor: 'c0' })
  }
})

it('events that come together are shown together, and each listener hears of each', () => {
  const heard: number[] = []
  const stop = onEvent(({ blockNumber }) => void heard.push(blockNumber))
  vi.advanceTimersByTime(1000)
  latestEvents.value = []
  let changes = -1
  const unsubscribe = latestEvents.subscribe(() => void changes++)
  last().say(event(7))
  vi.advanceTimersByTime(0)
  for (let block = 8; block < 68; block++) last().say(event(block))
  vi.advanceTimersByTime(200)
  expect([latestEvents.value.length, changes, heard.length]).toEqual([61, 2, 61])
  stop()
  unsubscribe()
})

it('the health of the chains comes with the stream', () => {
  const chains = [{ chainId: 1, status: 'down', activeSolvers: 0 }]
  last().say({ type: 'Health', chains, cursor: 'c9' })
  expect(reportedHealth.value).toEqual(chains)
})
