/**
 * The messages on a connection between replicas (docs/decisions.md, D18). A request is its time, its signature and the
 * signed text, each after a line end. The signed text is the number of the request, a line end, and its body. Each message
 * of an answer begins with that number.
 */

/** The path of all connections between replicas. */
export const REPLICA_PATH = '/replica'

/** A request as it was sent. */
export interface ReceivedRequest {
  /** Unix time in milliseconds. */
  readonly time: string
  readonly signature: string
  readonly signed: Buffer
}

/** A message of an answer. */
export interface AnswerMessage {
  /** The number of the request. */
  readonly number: string
  /** A line of the answer, the end of a whole answer, or its end by a failure. */
  readonly kind: 'line' | 'end' | 'failed'
  /** Empty, unless the message is a line. */
  readonly line: string
}

/** @returns the text that the signature of a request covers */
export function toSignedText(number: number, body: string): string {
  return `${number}\n${body}`
}

export function toRequestMessage(time: number, signature: string, signed: string): string {
  return `${time}\n${signature}\n${signed}`
}

export function readRequestMessage(message: Buffer): ReceivedRequest {
  const [time, rest] = splitLine(message)
  const [signature, signed] = splitLine(rest)
  return { time: time.toString(), signature: signature.toString(), signed }
}

export function readSignedText(signed: Buffer): { readonly number: string; readonly body: string } {
  const [number, body] = splitLine(signed)
  return { number: number.toString(), body: body.toString() }
}

export function toAnswerMessage({ number, kind, line }: AnswerMessage): string {
  return `${number}\n${kind}\n${line}`
}

export function readAnswerMessage(message: Buffer): AnswerMessage {
  const [number, rest] = splitLine(message)
  const [kind, line] = splitLine(rest)
  return { number: number.toString(), kind: kind.toString() as AnswerMessage['kind'], line: line.toString() }
}

const LINE_END = '\n'.charCodeAt(0)

/** @returns the first line without its end, and the rest */
function splitLine(bytes: Buffer): [Buffer, Buffer] {
  const end = bytes.indexOf(LINE_END)
  return end < 0 ? [bytes, Buffer.alloc(0)] : [bytes.subarray(0, end), bytes.subarray(end + 1)]
}
