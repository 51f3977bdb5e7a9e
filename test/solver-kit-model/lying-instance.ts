import { randomUUID } from 'node:crypto'
import type { Hex } from '../../packages/protocol/src/values/hex.js'
import { startSessionServer } from '../../packages/solver/test/session/session-server.js'
import { eventually } from '../support/eventually.js'
import { CHAIN_ID } from './world.js'

/** An instance to which solvers open sessions, and which reports deposits that it has invented. */
export type LyingInstance = Awaited<ReturnType<typeof startLyingInstance>>

/** As long as the kit allows. No history takes as long: the sockets take time of the machine, and heartbeats that of the test. */
const HEARTBEAT_MS = 60_000

/** Starts it on a socket of this machine. */
export async function startLyingInstance() {
  const server = await startSessionServer()
  const isOpen = new Set<object>()

  /** The newest session, once its hello has come. @returns undefined while there is none */
  async function session() {
    const connection = server.connections.at(-1)
    if (connection === undefined || connection.ends.length > 0) return undefined
    if (isOpen.has(connection)) return connection
    connection.challenge()
    await eventually(
      async () => connection.received.length,
      (count) => count > 0,
    )
    const limits = { maxMessageBytes: 65_536, maxOpenRequests: 64 }
    connection.send({
      type: 'ready',
      sessionId: randomUUID(),
      heartbeatMs: HEARTBEAT_MS,
      limits,
      cursor: 'c0',
    })
    isOpen.add(connection)
    return connection
  }

  return {
    url: server.url,
    session,
    /** Reports a deposit for an order, or that its end was removed. @returns when the solver has the event */
    async report(
      orderId: Hex,
      fillDeadline: number,
      type: 'Deposited' | 'Reverted' = 'Deposited',
    ): Promise<void> {
      const connection = await session()
      if (connection === undefined) return
      const id = randomUUID()
      const ended = type === 'Reverted' && { event: 'Settled' }
      const event = { type, chainId: CHAIN_ID, orderId, fillDeadline, ...ended }
      connection.send({ type: 'event', event, cursor: id })
      connection.send({ type: 'ping', id })
      await eventually(
        async () => connection.received.some((message) => message.type === 'pong' && message.id === id),
        (hasCome) => hasCome,
      )
    },
    /** Cuts all sessions, as the end of the solver's process does. */
    cut(): void {
      for (const { socket } of server.connections) socket.terminate()
    },
    close: () => server.close(),
  }
}
