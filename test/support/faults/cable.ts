import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listen } from '../listen.js'

/** A port of its own that passes every connection on to a service, until it is cut or silenced. */
export async function startCable(serviceUrl: string) {
  const target = new URL(serviceUrl)
  const sockets = new Set<Socket>()
  let isSilent = false
  const server = createServer((socket) => {
    if (isSilent) {
      sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)))
      return
    }
    const far = connect(Number(target.port), target.hostname)
    for (const [end, other] of [
      [socket, far],
      [far, socket],
    ] as const) {
      sockets.add(end)
      end.pipe(other)
      end.on('error', () => {})
      end.on('close', () => {
        sockets.delete(end)
        other.destroy()
      })
    }
  })
  const { url } = await listen(server)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const stall = () => {
    for (const socket of sockets) socket.unpipe().pause()
  }

  return {
    url,
    /** Ends every connection, without a word. New ones may come. */
    cut,
    /** Passes nothing on, as if the machine at the other end had stopped. Connections stay open. */
    silence() {
      isSilent = true
      stall()
    },
    /** Passes nothing on for the connections of now, which stay open. New ones work. */
    stall,
    /** Cuts what is open, and passes new connections on again. */
    restore() {
      isSilent = false
      cut()
    },
    async close() {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
