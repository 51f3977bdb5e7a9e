import { WebSocket } from 'ws'
import {
  AnswerTooLongError,
  MAX_ANSWER_BYTES,
  type OnResponse,
  type RpcAnswer,
  type RpcConnection,
} from './rpc-connection.js'
import { createSocketPool } from './socket-pool.js'

/** The code of ws for a message that exceeds `maxPayload`. */
const TOO_LONG = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
const HANDSHAKE_TIMEOUT_MS = 2000

/**
 * Builds the connection to a ws or wss URL. As over HTTP, each call under way has a socket of its own, so that neither a slow
 * answer nor a long one delays another call. A socket on which an answer is too long, or may still come after the end of
 * its call, is closed. viem's sockets are not used: all calls share them, and they parse messages of any length.
 * @param onRefused called with each response that opens no socket
 */
export function createWsRpcConnection(url: string, onRefused: OnResponse): RpcConnection {
  const options = {
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_ANSWER_BYTES,
    perMessageDeflate: false,
    // A node may copy a token's bytes into the text of its error.
    skipUTF8Validation: true,
  }
  const pool = createSocketPool(() => {
    const socket = new WebSocket(url, options)
    return socket.once('unexpected-response', (_request, { statusCode = 0, headers }) => {
      onRefused(statusCode, headers['retry-after'])
      socket.terminate()
    })
  })
  let lastId = 0
  return {
    async call(method, params, signal) {
      const socket = await pool.take(signal)
      const id = ++lastId
      try {
        const answer = answerOn(socket, id, signal)
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
        return await answer
      } catch (error) {
        socket.terminate()
        throw error
      } finally {
        pool.giveBack(socket)
      }
    },
    close: pool.close,
  }
}

/** Waits for the answer to a call, until the socket is closed or the signal is aborted. */
function answerOn(socket: WebSocket, id: number, signal: AbortSignal): Promise<RpcAnswer> {
  return new Promise((resolve, reject) => {
    const onMessage = (data: Buffer) => {
      const answer = parseAnswer(data)
      if (answer?.id === id) end(() => resolve(answer))
    }
    const onError = (error: Error & { readonly code?: string }) => {
      const isTooLong = error.code === TOO_LONG
      end(() => reject(isTooLong ? new AnswerTooLongError(error.message) : error))
    }
    const onClose = () => end(() => reject(new Error('the WebSocket was closed')))
    const onAbort = () => end(() => reject(new Error('the call was ended')))
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', onAbort)
      socket.off('message', onMessage).off('error', onError).off('close', onClose)
      settle()
    }
    signal.addEventListener('abort', onAbort)
    socket.on('message', onMessage).on('error', onError).on('close', onClose)
    if (signal.aborted) onAbort()
    else if (socket.readyState !== WebSocket.OPEN) onClose()
  })
}

function parseAnswer(data: Buffer): (RpcAnswer & { readonly id?: unknown }) | undefined {
  try {
    return JSON.parse(data.toString()) ?? undefined
  } catch {
    return undefined
  }
}
