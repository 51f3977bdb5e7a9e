import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Clock, Timer } from '../../../protocol/src/clock.js'

export const NONCE = `0x${'a1'.repeat(32)}` as const
export const HEARTBEAT_MS = 20_000

// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of many shapes
export type Message = any

export type ServerConnection = Awaited<ReturnType<typeof startSessionServer>>['connections'][number]

/** The instance's end of sessions. It sends only what the test says. @param upgradeStatus as `refuseUpgrades` has it */
export async function startSessionServer(upgradeStatus?: number) {
  let refusal = upgradeStatus
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    verifyClient: (_info, decide) => decide(refusal === undefined, refusal),
  })
  await once(server, 'listening')
  const connections: ReturnType<typeof acceptConnection>[] = []
  server.on('connection', (socket) => connections.push(acceptConnection(socket)))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections,
    /** Answers upgrades with this status, or accepts them again. */
    refuseUpgrades(status: number | undefined) {
      refusal = status
    },
    close() {
      for (const { socket } of connections) socket.terminate()
      server.close()
    },
  }
}

function acceptConnection(socket: WebSocket) {
  const received: Message[] = []
  const ends: number[] = []
  socket.on('message', (data) => received.push(JSON.parse(data.toString())))
  socket.on('close', (code) => ends.push(code))
  const send = (message: object) => socket.send(JSON.stringify(message))
  return {
    socket,
    received,
    /** The code of its end, once it has ended. */
    ends,
    send,
    challenge: () => send({ type: 'challenge', nonce: NONCE, serverTime: Date.now() }),
    accept: () =>
      send({
        type: 'ready',
        sessionId: '0f8fad5b-d9cb-469f-a165-70867728950e',
        heartbeatMs: HEARTBEAT_MS,
        limits: { maxMessageBytes: 65_536, maxOpenRequests: 64 },
        cursor: 'c0',
      }),
  }
}

/** Timers that only the test fires. @param random what each random number is */
export function manualTiming(random = 1) {
  const pending: { ms: number; action: () => void }[] = []
  const started: number[] = []
  const clock: Pick<Clock, 'setTimeout'> = {
    setTimeout(action, ms) {
      const waiting = { ms, action }
      pending.push(waiting)
      started.push(ms)
      const timer: Timer = { stop: () => void remove(waiting), unref: () => timer }
      return timer
    },
  }
  const remove = (timer: (typeof pending)[number]) => {
    const index = pending.indexOf(timer)
    if (index >= 0) pending.splice(index, 1)
  }
  return {
    clock,
    random: () => random,
    /** The times of all timers so far. */
    started,
    /** The times of the timers that wait, in the order of their start. */
    waiting: () => pending.map(({ ms }) => ms),
    /** Fires the timer with this time. @throws Error when there is none */
    fire(ms: number) {
      const timer = pending.find((one) => one.ms === ms)
      if (timer === undefined) throw new Error(`no timer of ${ms} ms waits`)
      remove(timer)
      timer.action()
    },
  }
}
