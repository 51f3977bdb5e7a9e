import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A port of its own that passes every connection on to a service, until it is cut. */
export async function startCable(serviceUrl: string) {
  const { hostname, port } = new URL(serviceUrl)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const far = connect(Number(port), hostname)
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Ends every connection, without a word. New ones may come. */
    cut,
    async close() {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
