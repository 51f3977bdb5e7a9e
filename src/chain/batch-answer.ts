/** A node has not answered each call of a batch. */
export class BatchRefusedError extends Error {
  override readonly name = 'BatchRefusedError'
  /** The number of calls in the batch. */
  readonly calls: number

  constructor(calls: number, reason: string) {
    super(`the node refuses a batch of ${calls} calls: ${reason}`)
    this.calls = calls
  }
}

/** Statuses that may refuse a batch as such; other errors concern any request. */
const REFUSALS = [400, 405, 413, 415, 422, 501]
/** How many bytes of the answer are kept: a refusal is short. */
const MAX_REFUSAL_BYTES = 1000
/** An error of a call whose id the node could not read (JSON-RPC 2.0, section 5). */
const WITHOUT_ID = /"id"\s*:\s*null/

/** The number of calls in the body of a request; 0 when it is no batch. */
export function callsIn(body: unknown): number {
  return typeof body === 'string' && body.startsWith('[') ? JSON.parse(body).length : 0
}

/**
 * Passes on the body that has an answer for each call of a batch. Any other body fails at its end: one object (JSON-RPC
 * 2.0, section 6), a shorter list, a list that begins with an error without an id, no JSON, or the body of a status that
 * refuses the batch. viem takes the answers by their places, so a shorter list would mix them up.
 * @returns undefined for a status that concerns any request
 */
export function expectAnswers(
  calls: number,
  status: number,
): TransformStream<Uint8Array, Uint8Array> | undefined {
  const isAccepted = status === 200
  if (!isAccepted && !REFUSALS.includes(status)) return undefined
  const counter = createListCounter()
  let beginning = Buffer.alloc(0)
  return new TransformStream({
    transform(chunk, controller) {
      counter.add(chunk)
      if (beginning.length < MAX_REFUSAL_BYTES)
        beginning = Buffer.concat([beginning, chunk]).subarray(0, MAX_REFUSAL_BYTES)
      if (isAccepted) controller.enqueue(chunk)
    },
    flush(controller) {
      const text = beginning.toString()
      if (isAccepted && counter.objects() >= calls && !WITHOUT_ID.test(text)) return
      controller.error(new BatchRefusedError(calls, `status ${status} ${text}`.trim()))
    },
  })
}

const [SPACE, QUOTE, BACKSLASH, LIST] = [0x20, 0x22, 0x5c, 0x5b]
const IS_OPENING = toTable('{[')
const IS_CLOSING = toTable('}]')

/** Counts the objects of a list while its JSON comes in. */
function createListCounter() {
  let depth = 0
  let objects = 0
  let isInText = false
  let isEscaped = false
  let isList: boolean | undefined

  function addToText(byte: number): void {
    if (isEscaped) isEscaped = false
    else if (byte === BACKSLASH) isEscaped = true
    else if (byte === QUOTE) isInText = false
  }

  function add(byte: number): void {
    if (byte > SPACE) isList ??= byte === LIST
    if (byte === QUOTE) isInText = true
    else if (IS_OPENING[byte] === 1) {
      if (depth === 1) objects++
      depth++
    } else if (IS_CLOSING[byte] === 1) depth--
  }

  return {
    add(chunk: Uint8Array) {
      for (const byte of chunk) {
        if (isInText) addToText(byte)
        else add(byte)
      }
    },
    objects: () => (isList === true ? objects : 0),
  }
}

/** For each byte, 1 when it is one of these characters. */
function toTable(characters: string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(characters.includes(String.fromCharCode(byte))))
}
