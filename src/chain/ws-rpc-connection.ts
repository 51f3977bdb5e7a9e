import { WebSocket } from 'ws'
import { AnswerTooLongError, MAX_ANSWER_BYTES, type RpcAnswer, type RpcConnection } from './rpc-connection.js'

/**
 * A longer message closes the socket, with the calls of all callers. A token must not cause that. With the gas of a call, a revert
 * has at most 1.5 MB. Nodes return each byte as two hex digits, and again as text, in which a control character takes six bytes.
 */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const HANDSHAKE_TIMEOUT_MS = 5000
/** A call that ends without an answer closes a socket on which calls have waited in silence for this time: its peer may be gone. */
const SILENCE_MS = 5000
/** Where nodes write the id of an answer: at its beginning, or at its end. JSON has no such bytes within a string. */
const FIRST_ID = /^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,/
const LAST_ID = /,\s*"id"\s*:\s*(\d+)\s*\}\s*$/
const ID_BYTES = 100

interface PendingCall {
  resolve(answer: RpcAnswer): void
  reject(error: Error): void
}

/**
 * Builds the connection to a ws or wss URL: one socket for all calls, opened by the first call, and again after it was
 * closed. viem's sockets are not used: they keep calls without an answer for ever, and parse messages of any length.
 * Of a message of more than MAX_ANSWER_BYTES only the id is read.
 */
export function createWsRpcConnection(url: string): RpcConnection {
  let socket: RpcSocket | undefined
  let isClosed = false
  return {
    call(method, params, signal) {
      if (isClosed) return Promise.reject(new Error('the service is closing'))
      if (socket?.isClosing) socket.close()
      if (socket === undefined || socket.isClosing) socket = new RpcSocket(url)
      return socket.call(method, params, signal)
    },
    close() {
      isClosed = true
      socket?.close()
    },
  }
}

/** One WebSocket, until it is closed. */
class RpcSocket {
  readonly #socket: WebSocket
  readonly #opened: Promise<unknown>
  readonly #pending = new Map<number, PendingCall>()
  #lastId = 0
  /** Since when a call waits and no message has come; undefined while none has waited since the last message. */
  #silentSince: number | undefined

  constructor(url: string) {
    const socket = new WebSocket(url, {
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      // A node may copy a token's bytes into the text of its error. They must not close the socket.
      skipUTF8Validation: true,
    })
    this.#socket = socket
    this.#opened = new Promise((resolve) => socket.once('open', resolve))
    socket.on('message', (data) => this.#receive(data as Buffer))
    // The event `close` follows each error.
    socket.on('error', () => {})
    socket.on('close', () => this.close())
  }

  /** Whether it takes no calls. A peer that has closed its side may leave the connection open. */
  get isClosing(): boolean {
    return this.#socket.readyState > WebSocket.OPEN
  }

  async call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<RpcAnswer> {
    const id = ++this.#lastId
    const onAbort = () => {
      this.#pending.get(id)?.reject(new Error('the call was ended'))
      if (this.#silentMs() > SILENCE_MS) this.close()
    }
    signal.addEventListener('abort', onAbort)
    const answer = new Promise<RpcAnswer>((resolve, reject) => this.#pending.set(id, { resolve, reject }))
    void this.#opened.then(() => {
      if (!this.#pending.has(id)) return
      this.#silentSince ??= performance.now()
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
    if (signal.aborted) onAbort()
    try {
      return await answer
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#pending.delete(id)
    }
  }

  close(): void {
    this.#socket.terminate()
    for (const { reject } of this.#pending.values()) reject(new Error('the WebSocket was closed'))
  }

  #silentMs(): number {
    return this.#silentSince === undefined ? 0 : performance.now() - this.#silentSince
  }

  #receive(data: Buffer): void {
    this.#silentSince = undefined
    if (data.length > MAX_ANSWER_BYTES) {
      const tooLong = new AnswerTooLongError(`the answer has ${data.length} bytes`)
      this.#pending.get(idOfLong(data))?.reject(tooLong)
      return
    }
    const answer = parseAnswer(data)
    if (answer !== undefined) this.#pending.get(answer.id)?.resolve(answer)
  }
}

/** The id of an answer that is too long to be parsed; not a number when it is at neither place. */
function idOfLong(data: Buffer): number {
  const first = FIRST_ID.exec(data.toString('latin1', 0, ID_BYTES))
  const [, id] = first ?? LAST_ID.exec(data.toString('latin1', data.length - ID_BYTES)) ?? []
  return Number(id)
}

function parseAnswer(data: Buffer): (RpcAnswer & { readonly id: number }) | undefined {
  try {
    const answer = JSON.parse(data.toString())
    return typeof answer?.id === 'number' ? answer : undefined
  } catch {
    return undefined
  }
}
