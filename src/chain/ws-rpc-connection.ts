import { WebSocket } from 'ws'
import { MAX_ANSWER_BYTES, type RpcAnswer, type RpcConnection } from './rpc-connection.js'

/** A longer message closes the socket. With the gas of a call, a token cannot make an answer of this size. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
const HANDSHAKE_TIMEOUT_MS = 5000
/** A call that ends without an answer closes a socket that has been silent for this time: its peer may be gone. */
const SILENCE_MS = 5000

interface PendingCall {
  resolve(answer: RpcAnswer): void
  reject(error: Error): void
}

/**
 * Builds the connection to a ws or wss URL: one socket for all calls, opened by the first call, and again after it was
 * closed. viem's sockets are not used: they keep calls without an answer for ever, and parse messages of any length.
 * A message of more than MAX_ANSWER_BYTES is dropped without a look at its id, so that its call gets no answer.
 */
export function createWsRpcConnection(url: string): RpcConnection {
  let socket: RpcSocket | undefined
  let isClosed = false
  return {
    call(method, params, signal) {
      if (isClosed) return Promise.reject(new Error('the service is closing'))
      if (socket === undefined || socket.isGone) socket = new RpcSocket(url)
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
  #heardAt = performance.now()
  /** Whether it is closed, so that it takes no calls. */
  isGone = false

  constructor(url: string) {
    const socket = new WebSocket(url, {
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    })
    this.#socket = socket
    this.#opened = new Promise((resolve) => socket.once('open', resolve))
    socket.on('message', (data) => this.#receive(data as Buffer))
    // The event `close` follows each error.
    socket.on('error', () => {})
    socket.on('close', () => this.close())
  }

  async call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<RpcAnswer> {
    const id = ++this.#lastId
    const onAbort = () => {
      this.#pending.get(id)?.reject(new Error('the call was ended'))
      if (performance.now() - this.#heardAt > SILENCE_MS) this.close()
    }
    signal.addEventListener('abort', onAbort)
    const answer = new Promise<RpcAnswer>((resolve, reject) => this.#pending.set(id, { resolve, reject }))
    void this.#opened.then(() => {
      if (this.#pending.has(id)) this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
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
    this.isGone = true
    this.#socket.terminate()
    for (const { reject } of this.#pending.values()) reject(new Error('the WebSocket was closed'))
  }

  #receive(data: Buffer): void {
    this.#heardAt = performance.now()
    if (data.length > MAX_ANSWER_BYTES) return
    const answer = parseAnswer(data)
    if (answer !== undefined) this.#pending.get(answer.id)?.resolve(answer)
  }
}

function parseAnswer(data: Buffer): (RpcAnswer & { readonly id: number }) | undefined {
  try {
    const answer = JSON.parse(data.toString())
    return typeof answer?.id === 'number' ? answer : undefined
  } catch {
    return undefined
  }
}
