import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * Stands between a replica and its database, until the end of the test: passes everything on until it is told to be
 * silent, as a network is that is gone for a while.
 * @param whenFinished the test's own hook, for one that runs beside others
 */
export async function startDatabaseProxy(databaseUrl: string, whenFinished = onTestFinished) {
  const url = new URL(databaseUrl)
  const [host, port] = [url.hostname, Number(url.port)]
  const sockets = new Set<Socket>()
  let connections = 0
  let isSilent = false
  let lastWords: string | undefined
  let messagesLeft = Number.POSITIVE_INFINITY

  /** What is not read stays where it is: nothing of it is lost. */
  function silence(): void {
    isSilent = true
    for (const socket of sockets) socket.pause()
  }

  function pass(from: Socket, to: Socket, isClient: boolean): void {
    sockets.add(from)
    from.on('data', (chunk) => {
      if (isClient && --messagesLeft < 0) cut()
      else if (lastWords !== undefined && chunk.includes(lastWords)) {
        lastWords = undefined
        silence()
        from.unshift(chunk)
      } else {
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`

  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }
  whenFinished(async () => {
    server.close()
    cut()
    await once(server, 'close')
  })

  return {
    /** Of the same database, by way of this. */
    url: url.href,
    /** Passes nothing on any more, nor that somebody has gone away; new connections may come. */
    silence,
    /** Is silent from when a replica says this on, which does not get through either. */
    silenceAt(words: string) {
      lastWords = words
    },
    /** Passes everything on again, beginning with what has been said meanwhile. */
    speak() {
      isSilent = false
      for (const socket of sockets) socket.resume()
    },
    /** Ends every connection, on both sides. */
    cut,
    /** Ends them all when replicas have sent so many messages from now on, in place of the next one. */
    truncateAfter(messages: number) {
      messagesLeft = messages
    },
    /** How many connections there have been so far. */
    connections: () => connections,
  }
}
