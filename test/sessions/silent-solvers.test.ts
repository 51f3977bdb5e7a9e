import { describe, expect, onTestFinished, test } from 'vitest'
import type { ServiceError } from '../../packages/protocol/src/errors.js'
import { identifyClient } from '../../src/clients/client-id.js'
import { startHandshake } from '../../src/sessions/handshake.js'
import { startHeartbeat, watchBacklog } from '../../src/sessions/liveness.js'
import type { SessionConnection, SolverMessage } from '../../src/sessions/messages.js'
import { createSession } from '../../src/sessions/session.js'
import { createManualClock } from '../support/manual-clock.js'
import { only } from '../support/only.js'

/** A connection that keeps what is sent on it. */
function createConnection() {
  const sent: string[] = []
  const ends: ServiceError[] = []
  let unsentBytes = 0
  const connection: SessionConnection = {
    send: ({ type }) => void sent.push(type),
    sendUnknown() {},
    unsentBytes: () => unsentBytes,
    drained: async () => {},
    end: (error) => void ends.push(error),
  }
  const hold = (bytes: number) => {
    unsentBytes = bytes
  }
  return { connection, sent, ends, hold }
}

describe('a connection without a hello', () => {
  function begin() {
    const clock = createManualClock()
    const { connection, sent, ends } = createConnection()
    const results: string[] = []
    let settled = 0
    const peer = startHandshake({
      connection,
      call: {
        protocol: 'websocket',
        client: identifyClient('127.0.0.1'),
        requestId: '1',
        origins: [],
        onDecided: (result) => void results.push(result),
      },
      rules: only({ protocolName: 'Service', publicUrls: [], production: true }),
      open: async () => expect.unreachable(),
      onRefused: () => {},
      onSettled: () => void settled++,
      clock,
    })
    return { clock, peer, sent, ends, results, settled: () => settled }
  }

  test('ends after 5 seconds, once', async () => {
    const { clock, sent, ends, results, settled } = begin()
    expect(sent).toEqual(['challenge'])
    await clock.advance(4_999)
    expect(ends).toEqual([])
    await clock.advance(60_000)
    expect([ends.map(({ reason }) => reason), results, settled()]).toEqual([
      ['CHALLENGE_EXPIRED'],
      ['CHALLENGE_EXPIRED'],
      1,
    ])
  })

  test('leaves no timer when the solver goes before', async () => {
    const { clock, peer, ends, results, settled } = begin()
    peer.leave()
    await clock.advance(60_000)
    expect([ends, results, settled(), clock.waiting]).toEqual([[], [], 1, 0])
  })
})

describe('a session', () => {
  function begin() {
    const clock = createManualClock()
    const { connection, sent, ends } = createConnection()
    const session = createSession({
      registration: { sessionId: 'a', address: `0x${'0a'.repeat(20)}`, name: 'Ada', chainIds: [1] },
      connection,
      heartbeatMs: 20_000,
      subscription: undefined,
      onEnd() {},
      clock,
    })
    return { clock, session, sent, reasons: () => ends.map(({ reason }) => reason) }
  }

  const answers: readonly SolverMessage[] = [
    { type: 'quote', id: 'a', body: {} },
    { type: 'decline', id: 'a', code: 'PAUSED' },
    { type: 'pong', id: 'a' },
  ]
  test.each(answers.map((message) => ({ message })))(
    'ends at an answer to nothing: $message.type',
    ({ message }) => {
      const { session, reasons } = begin()
      session.receive(() => message)
      expect(reasons()).toEqual(['RATE_LIMITED'])
    },
  )

  test('ends when two pings are unanswered', async () => {
    const { clock, sent, reasons } = begin()
    await clock.advance(60_000)
    expect([sent, reasons()]).toEqual([['ping', 'ping'], ['SESSION_STALLED']])
  })
})

describe('a solver that reads nothing', () => {
  function watch() {
    const clock = createManualClock()
    const { connection, hold } = createConnection()
    let stalled = 0
    const backlog = watchBacklog(connection, () => void stalled++, clock)
    return { clock, backlog, hold, stalled: () => stalled }
  }

  test('is stalled when too much has waited for 10 seconds', async () => {
    const { clock, backlog, hold, stalled } = watch()
    hold(256 * 1024)
    expect(backlog.isFull()).toBe(false)
    hold(256 * 1024 + 1)
    expect(backlog.isFull()).toBe(true)
    await clock.advance(9_999)
    expect(stalled()).toBe(0)
    await clock.advance(1)
    expect(stalled()).toBe(1)
  })

  test('is not stalled when it has read meanwhile, and has 10 seconds again', async () => {
    const { clock, backlog, hold, stalled } = watch()
    hold(300_000)
    backlog.isFull()
    await clock.advance(9_000)
    hold(0)
    expect(backlog.isFull()).toBe(false)
    hold(300_000)
    backlog.isFull()
    await clock.advance(9_999)
    expect(stalled()).toBe(0)
    await clock.advance(1)
    expect(stalled()).toBe(1)
  })
})

describe('the heartbeat', () => {
  function start() {
    const clock = createManualClock()
    const pings: string[] = []
    let silent = 0
    const heartbeat = startHeartbeat(
      20_000,
      (id) => void pings.push(id),
      () => void silent++,
      clock,
    )
    onTestFinished(heartbeat.stop)
    return { clock, heartbeat, pings, silent: () => silent }
  }

  test('reports a solver that has not answered two pings when the third is due', async () => {
    const { clock, pings, silent } = start()
    await clock.advance(59_999)
    expect([pings.length, silent()]).toEqual([2, 0])
    await clock.advance(1)
    expect([pings.length, silent()]).toEqual([2, 1])
  })

  test('goes on with a solver that answers, and takes each answer once', async () => {
    const { clock, heartbeat, pings, silent } = start()
    for (let round = 1; round <= 5; round++) {
      await clock.advance(20_000)
      expect(heartbeat.receivePong(pings.at(-1) ?? '')).toBe(true)
      expect(heartbeat.receivePong(pings.at(-1) ?? '')).toBe(false)
    }
    expect([pings.length, new Set(pings).size, silent()]).toEqual([5, 5, 0])
  })
})
