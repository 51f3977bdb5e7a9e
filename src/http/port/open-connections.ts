import type { Socket } from 'node:net'
import { afterReading } from '../../concurrency/process-pauses.js'

type Protocol = 'http1' | 'http2'

/** The open connections of a server. */
export function createOpenConnections() {
  const all = new Set<Socket>()
  /** Those that have not shown which protocol they speak. */
  const unidentified = new Set<Socket>()
  let onLastGone = () => {}

  function forget(this: Socket): void {
    unidentified.delete(this)
    all.delete(this)
    if (all.size === 0) onLastGone()
  }

  return {
    /**
     * Adds a connection, and finds the protocol that it speaks.
     * @param timeoutMs how long its client may take to show the protocol
     */
    add(socket: Socket, timeoutMs: number, onProtocol: (protocol: Protocol) => void): void {
      all.add(socket)
      unidentified.add(socket)
      // These listeners stay for as long as the connection, so all connections share them.
      socket.on('error', destroy).once('close', forget)
      sniffProtocol(socket, timeoutMs, (protocol) => {
        unidentified.delete(socket)
        onProtocol(protocol)
      })
    },
    /** Waits until no connection is left, for `timeoutMs` at most. */
    async untilNone(timeoutMs: number): Promise<void> {
      if (all.size === 0) return
      await new Promise<void>((resolve) => {
        // A request that has come by then is read, also when the process was paused.
        const timer = setTimeout(() => void afterReading(resolve), timeoutMs)
        onLastGone = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    destroyUnidentified(): void {
      for (const socket of unidentified) socket.destroy()
    },
    destroyAll(): void {
      for (const socket of all) socket.destroy()
    },
  }
}

/** Destroys the socket whose event it listens to. */
function destroy(this: Socket): void {
  this.destroy()
}

/** HTTP/2 connections begin with `PRI * HTTP/2.0`; no method of HTTP/1.1 begins with these bytes. */
const HTTP2_BEGINNING = Buffer.from('PRI')

/** Reads until it is clear which protocol a connection speaks, and puts back what was read. */
function sniffProtocol(socket: Socket, timeoutMs: number, decide: (protocol: Protocol) => void): void {
  let beginning = Buffer.alloc(0)
  const timer = setTimeout(() => socket.destroy(), timeoutMs)
  const stopTimer = () => clearTimeout(timer)
  socket.once('end', destroy).once('close', stopTimer)
  socket.on('readable', function onReadable() {
    const chunk: Buffer | null = socket.read()
    if (chunk === null) return
    beginning = Buffer.concat([beginning, chunk])
    const compared = Math.min(beginning.length, HTTP2_BEGINNING.length)
    const mayBeHttp2 = HTTP2_BEGINNING.subarray(0, compared).equals(beginning.subarray(0, compared))
    if (mayBeHttp2 && compared < HTTP2_BEGINNING.length) return
    stopTimer()
    socket.off('readable', onReadable).off('end', destroy).off('close', stopTimer)
    socket.unshift(beginning)
    decide(mayBeHttp2 ? 'http2' : 'http1')
  })
}
