import type { Socket } from 'node:net'
import type { ConnectionKind, RequestParts } from './connection-kinds.js'

/** How far a connection has got when it breaks. */
export interface Stage {
  readonly name: string
  /** What the client has sent by then. */
  sent(parts: RequestParts): Buffer
  /** Whether that is the whole request, so that a response follows. */
  readonly isLast: boolean
}

/** How a client breaks a connection. */
export interface Break {
  readonly name: string
  /** Whether the break comes with the last bytes. The service may then read both together. */
  readonly isAtOnce: boolean
  /** Whether the client reads what arrives until the break. */
  readonly isReading: boolean
  /** How many bytes of a response the client takes at first. HTTP/2 only. */
  readonly window: number
  /** How long the client keeps the connection before the break, in milliseconds. */
  readonly holdMs: number
  /** What it sends in this time. */
  readonly flood: Buffer | undefined
  breakOff(socket: Socket): void
}

/** One way to break one kind of connection at one stage. */
export interface Case {
  readonly name: string
  readonly kind: ConnectionKind
  readonly stage: Stage
  readonly how: Break
}

const HOLD_MS = 1000
/** Many empty pings, masked as a WebSocket client does (RFC 6455, section 5.2). */
const PINGS = Buffer.alloc(16_384 * 6, Buffer.from([0x89, 0x80, 1, 2, 3, 4]))

/** The client ends its side, and reads until the service ends the connection too. */
const finish = (socket: Socket) => void socket.resume().end()
/** The client's process closes its socket: FIN, or RST when bytes are unread. */
const close = (socket: Socket) => void socket.destroy()
const reset = (socket: Socket) => void socket.resetAndDestroy()

const AT_ANY_STAGE: readonly Break[] = [
  way('FIN', finish),
  way('FIN with the last bytes', finish, { isAtOnce: true }),
  way('close', close),
  way('RST', reset),
  way('RST with the last bytes', reset, { isAtOnce: true }),
  way('silence, then FIN', finish, { holdMs: HOLD_MS }),
]
const AT_AN_ANSWER: readonly Break[] = [
  way('no reading, then close', close, { isReading: false, holdMs: HOLD_MS }),
]
/** Further ways while a response is being sent. */
const BY_PROTOCOL: Readonly<Record<ConnectionKind['protocol'], readonly Break[]>> = {
  'HTTP/1.1': [],
  'HTTP/2': [
    way('zero window, then FIN', finish, { window: 0, holdMs: HOLD_MS }),
    way('zero window, then RST', reset, { window: 0, holdMs: HOLD_MS }),
  ],
  WebSocket: [
    way('pings without reading, then RST', reset, { isReading: false, holdMs: HOLD_MS, flood: PINGS }),
  ],
}

function way(name: string, breakOff: Break['breakOff'], options: Partial<Break> = {}): Break {
  const usual = { isAtOnce: false, isReading: true, window: 0xffff, holdMs: 0, flood: undefined }
  return { name, breakOff, ...usual, ...options }
}

const LAST: Readonly<Record<ConnectionKind['outcome'], string>> = {
  pending: 'while the response is pending',
  answered: 'after the response',
  answering: 'in the response',
  streaming: 'in the stream',
  any: 'after the request',
}

/** The stages of a kind of connection, in order. */
function stagesOf({ protocol, outcome }: ConnectionKind, { body }: RequestParts): Stage[] {
  const early = (name: string, sent: Stage['sent']): Stage => ({
    name,
    sent,
    isLast: false,
  })
  const stages = [early('before the first byte', () => Buffer.alloc(0))]
  if (protocol === 'HTTP/2') {
    stages.push(
      early('in the preface', ({ preface }) => preface.subarray(0, 10)),
      early('after the preface', ({ preface }) => preface),
    )
  }
  stages.push(early('in the headers', ({ preface, headers }) => Buffer.concat([preface, half(headers)])))
  if (body.length > 0) {
    stages.push(
      early('after the headers', ({ preface, headers }) => Buffer.concat([preface, headers])),
      early('in the body', ({ preface, headers, body }) => Buffer.concat([preface, headers, half(body)])),
    )
  }
  const whole = ({ preface, headers, body }: RequestParts) => Buffer.concat([preface, headers, body])
  return [...stages, { name: LAST[outcome], sent: whole, isLast: true }]
}

const half = (bytes: Buffer) => bytes.subarray(0, Math.ceil(bytes.length / 2))

/** Every stage of a kind with every possible way. @param parts of a request of this kind */
export function casesOf(kind: ConnectionKind, parts: RequestParts): Case[] {
  return stagesOf(kind, parts).flatMap((stage) => {
    const ways = stage.isLast
      ? [...AT_ANY_STAGE, ...AT_AN_ANSWER, ...BY_PROTOCOL[kind.protocol]]
      : AT_ANY_STAGE
    return ways.map((how) => ({ name: `${stage.name}: ${how.name}`, kind, stage, how }))
  })
}
