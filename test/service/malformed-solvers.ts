import type { Socket } from 'node:net'
import type { LocalAccount } from 'viem'
import type { WireQuote, WireReply } from './test-solver.js'

/** What a beast is given to work with, for each connection. */
export interface Exchange {
  readonly socket: Socket
  /** Reads the request to its end. @returns a reply to it that is right in everything, at the beast's price */
  offer(): Promise<WireReply>
  sign(quote: WireQuote, signer?: LocalAccount): Promise<WireReply>
  /** A port that nobody may be led to. */
  readonly trapPort: number
}

/** A solver that does what no solver should, on the bare socket. */
export interface MalformedSolver {
  readonly name: string
  /** What it must be counted under: the outcome, then the reason when there is one, as in `invalid malformed`. */
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

/** Sends what `write` makes of a good reply in JSON, and keeps the connection open. */
export const sends = (name: string, outcome: string, write: (json: string, exchange: Exchange) => Bytes) =>
  malformedSolver(name, outcome, async (exchange) => {
    exchange.socket.write(write(JSON.stringify(await exchange.offer()), exchange))
  })

/** Does the same, and closes the connection. */
export const sendsAndCloses = (name: string, outcome: string, write: (json: string) => Bytes) =>
  malformedSolver(name, outcome, async ({ socket, offer }) =>
    socket.end(write(JSON.stringify(await offer()))),
  )

/** Answers 200 with what `change` makes of a good reply: JSON text, or what is to become it. */
export const replies = (
  name: string,
  outcome: string,
  change: (reply: WireReply, exchange: Exchange) => unknown,
) =>
  malformedSolver(name, outcome, async (exchange) => {
    const body = await change(await exchange.offer(), exchange)
    exchange.socket.write(ok(typeof body === 'string' ? body : JSON.stringify(body)))
  })

/** An answer with its length. */
export function ok(body: Bytes, { status = '200 OK', headers = [] as string[] } = {}): Buffer {
  const lines = [...headers, 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
  const top = [`HTTP/1.1 ${status}`, ...lines, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(top), Buffer.from(body as string)])
}

/** The top of an answer. */
export const head = (...lines: string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')

export const CHUNKED = head('transfer-encoding: chunked')

export const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
