import type { Clock, Timer } from '../../protocol/src/clock.js'
import { RpcError } from './json-rpc.js'
import type { WsConnection } from './ws-connection.js'

/** WebSockets to one URL, each for one call at a time, so that no call waits for the answer to another. */
type WsPool = Pick<WsConnection, 'call' | 'disconnect'>

/** A socket that nobody has used for this time is closed. */
const IDLE_MS = 30_000

/**
 * Builds the pool. There are never more sockets than calls were under way at the same time. A socket on which the answer to
 * a call that has ended may still come is closed.
 */
export function createWsPool(connect: () => WsConnection, clock: Clock): WsPool {
  /** All connections, with the timer that ends an idle one. */
  const timers = new Map<WsConnection, Timer | undefined>()

  function use(connection: WsConnection, timer?: Timer): WsConnection {
    timers.get(connection)?.stop()
    timers.set(connection, timer)
    return connection
  }

  function drop(connection: WsConnection): void {
    timers.get(connection)?.stop()
    timers.delete(connection)
    connection.disconnect()
  }

  return {
    async call(call, limits) {
      const idle = [...timers.keys()].find((one) => one.underWay() === 0)
      const connection = use(idle ?? connect())
      let isUsable = true
      try {
        return await connection.call(call, limits)
      } catch (error) {
        isUsable = error instanceof RpcError && error.answer !== undefined
        throw error
      } finally {
        if (isUsable) use(connection, clock.setTimeout(() => drop(connection), IDLE_MS).unref())
        else drop(connection)
      }
    },
    disconnect() {
      for (const connection of timers.keys()) drop(connection)
    },
  }
}
