import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * Stands between a replica and its database, until the end of the test: passes everything on until it is told to fall
 * silent, as a network does that is gone.
 */
export async function startDatabaseProxy(databaseUrl: string) {
  const url = new URL(databaseUrl)
  const [host, port] = [url.hostname, Number(url.port)]
  const sockets = new Set<Socket>()
  let isSilent = false

  function pass(from: Socket, to: Socket): void {
    sockets.add(from)
    from.on('data', (chunk) => {
      if (!isSilent) to.write(chunk)
    })
    from.on('error', () => {})
    // A network that is gone does not tell either that somebody has gone away.
    from.on('end', () => {
      if (!isSilent) to.end()
    })
    from.on('close', () => {
      sockets.delete(from)
      if (!isSilent) to.destroy()
    })
  }

  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host, port, allowHalfOpen: true })
    pass(near, far)
    pass(far, near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.port = String((server.address() as AddressInfo).port)
  url.hostname = '127.0.0.1'

  /** Ends every connection, on both sides. */
  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(async () => {
    server.close()
    cut()
    await once(server, 'close')
  })

  return {
    /** Of the same database, by way of this. */
    url: url.href,
    /** Passes nothing on any more, of connections there are and of new ones. */
    silence() {
      isSilent = true
    },
    /** Passes new connections on; those that were silenced are cut, since what they said is lost. */
    speak() {
      cut()
      isSilent = false
    },
    cut,
  }
}
