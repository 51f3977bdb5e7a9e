import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { listen } from '../support/listen.js'

/**
 * A proxy between a replica and its database, until the end of the test. It passes everything on until the test makes it
 * silent, like a network that fails for a while.
 * @param whenFinished the test's own hook, for concurrent tests
 */
export async function startDatabaseProxy(databaseUrl: string, whenFinished = onTestFinished) {
  const url = new URL(databaseUrl)
  const [host, port] = [url.hostname, Number(url.port)]
  const sockets = new Set<Socket>()
  let connections = 0
  let isSilent = false
  let messagesLeft = Number.POSITIVE_INFINITY

  /** Data that is not read stays in its socket, so nothing is lost. */
  function silence(): void {
    isSilent = true
    for (const socket of sockets) socket.pause()
  }

  function pass(from: Socket, to: Socket, isClient: boolean): void {
    sockets.add(from)
    from.on('data', (chunk) => {
      if (isClient && --messagesLeft < 0) cut()
      else {
        to.write(chunk)
      }
    })
    from.on('error', () => {})
    from.on('end', () => to.end())
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    if (isSilent) from.pause()
  }

  const server = createServer({ allowHalfOpen: true }, (near) => {
    connections++
    const far = connect({ host, port, allowHalfOpen: true })
    pass(near, far, true)
    pass(far, near, false)
  })
  url.host = new URL((await listen(server)).url).host

  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }
  whenFinished(async () => {
    server.close()
    cut()
    await once(server, 'close')
  })

  return {
    /** URL of the same database through this proxy. */
    url: url.href,
    /** Passes nothing on any more, not even the end of a connection. New connections are accepted. */
    silence,
    /** Passes everything on again, beginning with the data that was held back. */
    speak() {
      isSilent = false
      for (const socket of sockets) socket.resume()
    },
    /** Ends every connection, on both sides. */
    cut,
    /** Ends all connections after this number of messages of replicas, in place of the next one. */
    truncateAfter(messages: number) {
      messagesLeft = messages
    },
    /** Number of connections so far. */
    connections: () => connections,
  }
}
