import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { shorten } from '../domain/text.js'
import { REPLICA_HEADERS, toConnectText } from './replica-signature.js'
import {
  type AnswerMessage,
  REPLICA_PATH,
  readAnswerMessage,
  toRequestMessage,
  toSignedText,
} from './replica-wire.js'

/** A request to another replica. */
export interface ReplicaRequest {
  /** JSON text that no other request has. */
  readonly body: string
  /** The longest time until the end of the answer. */
  readonly timeoutMs: number
  /** Called with each line of the answer when it comes. */
  readonly onLine: (line: string) => void
}

/** A WebSocket to another replica. It carries many requests at a time. */
export interface ReplicaConnection {
  /** Whether it takes requests: it is open, or being opened. */
  isUsable(): boolean
  /**
   * @param signal ends the request
   * @returns at the end of the answer
   * @throws Error when the replica does not answer to the end, or reports a failure
   */
  send(request: ReplicaRequest, signal: AbortSignal): Promise<void>
  close(): void
}

/** The time of a text in Unix milliseconds, and its signature. */
export type SignText = (text: string) => { readonly time: number; readonly signature: string }

interface ConnectionOptions {
  /** Origin of the other replica. */
  readonly url: string
  readonly sign: SignText
  /** Called once, at the end of the connection. */
  readonly onEnd: () => void
}

/** A request that waits for the end of its answer. */
interface Waiting {
  readonly onLine: (line: string) => void
  resolve(): void
  reject(error: unknown): void
}

const CONNECT_TIMEOUT_MS = 1000
/** A connection that nothing was sent on for this time is closed. */
const IDLE_MS = 30_000
/** A connection without an answer for this time is not used again: its other end may be gone without a word. */
const SILENT_MS = 900
/** More than any line of an answer. */
const MAX_MESSAGE_BYTES = 1024 * 1024
/** The longest error that is shown. */
const MAX_ERROR_LENGTH = 200

/** Begins to open a connection (docs/decisions.md, D18). It takes requests at once. */
export function openReplicaConnection({ url, sign, onEnd }: ConnectionOptions): ReplicaConnection {
  const id = randomUUID()
  const { time, signature } = sign(toConnectText(id))
  const socket = new WebSocket(new URL(REPLICA_PATH, url), {
    headers: {
      [REPLICA_HEADERS.connection]: id,
      [REPLICA_HEADERS.time]: String(time),
      [REPLICA_HEADERS.signature]: signature,
    },
    handshakeTimeout: CONNECT_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    // Replicas send no pings. Their answers would wait without a bound for one who does not read them.
    autoPong: false,
  })
  /** By the numbers of the requests. */
  const waiting = new Map<string, Waiting>()
  let unsent: string[] = []
  let requests = 0
  /** When an answer came last, or the first of the waiting requests was sent. */
  let silentSince = 0
  /** Why the connection ends: the first error. */
  let reason: unknown

  function fail(error: unknown): void {
    reason ??= error
    socket.terminate()
  }

  function write(message: string): void {
    if (socket.readyState === WebSocket.CONNECTING) unsent.push(message)
    else socket.send(message)
  }

  const idle = setTimeout(() => {
    if (waiting.size > 0) idle.refresh()
    else socket.terminate()
  }, IDLE_MS).unref()

  socket
    .once('open', () => {
      for (const message of unsent) socket.send(message)
      unsent = []
    })
    .on('message', (data: Buffer) => {
      silentSince = performance.now()
      const answer = readAnswerMessage(data)
      const request = waiting.get(answer.number)
      if (request !== undefined) takeAnswer(request, answer)
    })
    .on('error', (error) => {
      reason ??= error
    })
    .once('unexpected-response', (_request, response) => {
      const answered = (body: string) => new Error(`it answered ${response.statusCode}: ${body}`)
      readBegin(response).then((body) => fail(answered(body)), fail)
    })
    .once('close', (code, why) => {
      clearTimeout(idle)
      reason ??= new Error(`its connection has ended: ${code} ${why}`)
      for (const { reject } of [...waiting.values()]) reject(reason)
      onEnd()
    })

  return {
    isUsable: () => socket.readyState === WebSocket.CONNECTING || socket.readyState === WebSocket.OPEN,
    send: ({ body, timeoutMs, onLine }, signal) =>
      new Promise((resolve, reject) => {
        const number = ++requests
        const settle = <T>(how: (value: T) => void) => {
          return (value: T) => {
            clearTimeout(timer)
            signal.removeEventListener('abort', onAbort)
            waiting.delete(String(number))
            how(value)
          }
        }
        const request = { onLine, resolve: settle<void>(resolve), reject: settle<unknown>(reject) }
        const onAbort = () => request.reject(signal.reason)
        const timer = setTimeout(() => {
          request.reject(new Error('it does not answer'))
          if (performance.now() - silentSince > SILENT_MS) fail(new Error('it does not answer'))
        }, timeoutMs)
        signal.addEventListener('abort', onAbort)
        if (waiting.size === 0) silentSince = performance.now()
        waiting.set(String(number), request)
        idle.refresh()
        const signed = toSignedText(number, body)
        const { time, signature } = sign(signed)
        write(toRequestMessage(time, signature, signed))
      }),
    close: () => fail(new Error('this replica ends')),
  }
}

function takeAnswer({ onLine, resolve, reject }: Waiting, { kind, line }: AnswerMessage): void {
  if (kind === 'end') resolve()
  else if (kind === 'failed') reject(new Error('it failed to answer'))
  else
    try {
      onLine(line)
    } catch (error) {
      reject(error)
    }
}

/** @returns the first part of a body. A server that is not a replica may send a body without an end. */
async function readBegin(response: IncomingMessage): Promise<string> {
  let begin = ''
  for await (const part of response.setEncoding('utf8')) {
    begin += part
    if (begin.length > MAX_ERROR_LENGTH) break
  }
  return shorten(begin, MAX_ERROR_LENGTH)
}
