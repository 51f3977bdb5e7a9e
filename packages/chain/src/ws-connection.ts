import { WebSocket } from 'ws'
import { reasonOf, refusalOf, splitCredentials } from './http-exchange.js'
import {
  type Call,
  type CallLimits,
  isRecord,
  lost,
  type NodeContext,
  parseJson,
  RpcError,
  resultOf,
  toMessage,
  tooLate,
  tooLong,
  within,
} from './json-rpc.js'

/** One WebSocket to a ws or wss URL, which the first call opens, and the next one after its end opens again. */
export type WsConnection = ReturnType<typeof createWsConnection>

type OnHead = (head: Record<string, unknown>) => void

interface WaitingCall {
  readonly text: string
  readonly answered: (message: unknown, bytes: number) => void
  readonly failed: (error: RpcError) => void
}

/** The code of ws for a message that exceeds `maxPayload`. */
const TOO_LONG = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'

export function createWsConnection(url: string, { clock, words, limits: own }: NodeContext) {
  const { target, headers } = splitCredentials(url)
  /** Those whose socket is not open yet are sent when it is. */
  const waiting = new Map<number, WaitingCall>()
  let socket: WebSocket | undefined
  let heads: { readonly id: unknown; readonly onHead: OnHead; readonly onLost: () => void } | undefined
  let lastId = 0
  /** When the node has last sent anything. */
  let heardAt = Number.NEGATIVE_INFINITY

  /** The socket in use, open or about to open. The node may have closed its side of an earlier one. */
  function current(): WebSocket {
    if (socket !== undefined && socket.readyState <= WebSocket.OPEN) return socket
    disconnect()
    socket = connect()
    return socket
  }

  function connect(): WebSocket {
    const opened = new WebSocket(target, {
      headers,
      maxPayload: own.maxBytes,
      perMessageDeflate: false,
      // A node may copy a token's bytes into the text of its error.
      skipUTF8Validation: true,
    })
    let reason: RpcError | undefined
    const end = (error: RpcError) => {
      reason ??= error
      opened.terminate()
    }
    const timer = clock.setTimeout(() => end(tooLate(own.timeoutMs)), own.timeoutMs)
    return opened
      .once('open', () => {
        timer.stop()
        for (const { text } of waiting.values()) opened.send(text)
      })
      .on('message', (data: Buffer) => {
        heardAt = clock.monotonic()
        try {
          onMessage(data)
        } catch (error) {
          end(lost(words(reasonOf(error))))
        }
      })
      .on('unexpected-response', (_request, { statusCode = 0, headers }) =>
        end(refusalOf(statusCode, headers['retry-after'], clock.now())),
      )
      .on('error', (error: NodeJS.ErrnoException) =>
        end(error.code === TOO_LONG ? tooLong(own.maxBytes) : lost(words(reasonOf(error)))),
      )
      .once('close', () => {
        timer.stop()
        if (socket === opened) lose(reason)
      })
  }

  /** Forgets the socket, and fails what has waited for it. */
  function lose(reason = lost('the WebSocket was closed')): void {
    socket = undefined
    for (const { failed } of waiting.values()) failed(reason)
    waiting.clear()
    const { onLost } = heads ?? {}
    heads = undefined
    onLost?.()
  }

  function disconnect(): void {
    const former = socket
    if (former !== undefined) lose()
    former?.terminate()
  }

  function onMessage(data: Buffer): void {
    const message = parsedOf(data)
    if (!isRecord(message)) return
    const { id, method, params } = message
    if (method === undefined) waiting.get(id as number)?.answered(message, data.length)
    else if (isRecord(params) && heads?.id === params.subscription && isRecord(params.result))
      heads?.onHead(params.result)
  }

  /** @param onResult called before the next message of the node is read */
  async function call(one: Call, limits: CallLimits, onResult?: (result: unknown) => void): Promise<unknown> {
    limits.signal?.throwIfAborted()
    const id = ++lastId
    const text = JSON.stringify(toMessage(id, one))
    const opened = current()
    const answer = new Promise((resolve, reject) => {
      function answered(message: unknown, bytes: number): void {
        try {
          if (bytes > limits.maxBytes) throw tooLong(limits.maxBytes)
          const result = resultOf(message, words)
          onResult?.(result)
          resolve(result)
        } catch (error) {
          reject(error)
        }
      }
      waiting.set(id, { text, answered, failed: reject })
    })
    if (opened.readyState === WebSocket.OPEN) opened.send(text)
    const askedAt = clock.monotonic()
    try {
      return await within(clock, limits, answer)
    } catch (error) {
      // The way to the node may be cut without a word. The next call opens another socket.
      if (error instanceof RpcError && error.isTimeout && heardAt < askedAt && opened === socket) disconnect()
      throw error
    } finally {
      waiting.delete(id)
    }
  }

  return {
    /** @throws RpcError, or the reason of the signal */
    call: (one: Call, limits: CallLimits): Promise<unknown> => call(one, limits),
    /**
     * Subscribes to new heads, and replaces an earlier subscription.
     * @param onHead gets headers in JSON-RPC form, as the node pushes them
     * @param onLost called when the subscription ends with the socket
     * @returns whether the node has accepted @throws RpcError when it does not answer
     */
    async subscribeToHeads(onHead: OnHead, onLost: () => void): Promise<boolean> {
      const former = heads
      heads = undefined
      if (former !== undefined) call({ method: 'eth_unsubscribe', params: [former.id] }, own).catch(() => {})
      try {
        await call({ method: 'eth_subscribe', params: ['newHeads'] }, own, (id) => {
          heads = { id, onHead, onLost }
        })
        return true
      } catch (error) {
        if (error instanceof RpcError && error.kind === 'answered') return false
        throw error
      }
    },
    /** The number of calls that wait for an answer. */
    underWay: (): number => waiting.size,
    /** Closes the socket, if any, and fails its calls. */
    disconnect,
  }
}

function parsedOf(data: Buffer): unknown {
  try {
    return parseJson(data)
  } catch {
    return undefined
  }
}
