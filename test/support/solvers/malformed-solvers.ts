import type { Socket } from 'node:net'
import type { WireReply } from './solver.js'

/** What a malformed solver gets for each connection. */
export interface Exchange {
  readonly socket: Socket
  /** Reads the request to its end. @returns a valid reply to it */
  offer(): Promise<WireReply>
  /** A port that no request may reach. */
  readonly trapPort: number
}

/** A solver that breaks a protocol on the bare socket. */
export interface MalformedSolver {
  readonly name: string
  /** The expected outcome, then the reason if there is one, as in `invalid malformed`. */
  readonly outcome: string
  serve(exchange: Exchange): unknown
}

type Bytes = string | Buffer

export const malformedSolver = (
  name: string,
  outcome: string,
  serve: MalformedSolver['serve'],
): MalformedSolver => ({
  name,
  outcome,
  serve,
})

/** Sends what `write` makes of a valid reply in JSON, and keeps the connection open. */
export const sends = (name: string, outcome: string, write: (json: string, exchange: Exchange) => Bytes) =>
  malformedSolver(name, outcome, async (exchange) => {
    exchange.socket.write(write(JSON.stringify(await exchange.offer()), exchange))
  })

/** Sends the same, and closes the connection. */
export const sendsAndCloses = (name: string, outcome: string, write: (json: string) => Bytes) =>
  malformedSolver(name, outcome, async ({ socket, offer }) =>
    socket.end(write(JSON.stringify(await offer()))),
  )

/** Answers 200 with what `change` makes of a valid reply: JSON text, or a value to serialise. */
export const replies = (
  name: string,
  outcome: string,
  change: (reply: WireReply, exchange: Exchange) => unknown,
) =>
  malformedSolver(name, outcome, async (exchange) => {
    const body = await change(await exchange.offer(), exchange)
    exchange.socket.write(ok(typeof body === 'string' ? body : JSON.stringify(body)))
  })

/** A response with its length. */
export function ok(body: Bytes, { status = '200 OK', headers = [] as string[] } = {}): Buffer {
  const lines = [...headers, 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
  const top = [`HTTP/1.1 ${status}`, ...lines, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(top), Buffer.from(body as string)])
}

/** The status line and headers of a response. */
export const head = (...lines: string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')

export const CHUNKED = head('transfer-encoding: chunked')

export const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
