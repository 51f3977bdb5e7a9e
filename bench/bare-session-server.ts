/**
 * The limit for solvers with sessions: a bare server (`bare-quotes.ts`) that asks them over `ws`. It believes every hello,
 * and knows neither deadlines nor heartbeats.
 */
import { randomUUID } from 'node:crypto'
import { type WebSocket, WebSocketServer } from 'ws'
import { type BareReply, serveBareQuotes } from './bare-quotes.js'

const NONCE = `0x${'00'.repeat(32)}`
const TIMEOUT_MS = 2000
const sockets: WebSocket[] = []
const waiting = new Map<string, (reply: BareReply) => void>()

const server = serveBareQuotes((solver, body) => {
  const id = randomUUID()
  const deadline = Date.now() + TIMEOUT_MS
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    const start = `{"type":"quoteRequest","id":"${id}","deadline":${deadline},"kind":"FIRM",`
    sockets[solver]?.send(start + body.slice(1))
  })
})

new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.send(JSON.stringify({ type: 'challenge', nonce: NONCE, serverTime: Date.now() }))
  socket.once('message', () => {
    sockets.push(socket)
    socket.on('message', receive)
    socket.send(JSON.stringify({ type: 'ready', sessionId: randomUUID(), heartbeatMs: 20_000 }))
  })
})

function receive(data: WebSocket.RawData): void {
  const reply: BareReply & { id: string } = JSON.parse(data.toString())
  waiting.get(reply.id)?.(reply)
  waiting.delete(reply.id)
}
