import type { Socket } from 'node:net'
import { destroy } from './open-connections.js'

/** HTTP/2 connections begin with `PRI * HTTP/2.0`; no method of HTTP/1.1 begins with these bytes. */
const HTTP2_BEGINNING = Buffer.from('PRI')

/** Reads until it is clear which protocol a connection speaks, and puts back what was read. */
export function sniffProtocol(
  socket: Socket,
  timeoutMs: number,
  decide: (protocol: 'http1' | 'http2') => void,
): void {
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
