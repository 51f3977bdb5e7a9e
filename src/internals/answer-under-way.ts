import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface AnsweringSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

/**
 * Whether the headers of an answer have left on an HTTP/1.1 connection: more bytes would land in its middle. Node's own
 * `clientError` handler asks the same of `_httpMessage`. Checked with Node 20.20.
 */
export function hasAnswerUnderWay(socket: Socket): boolean {
  return (socket as AnsweringSocket)._httpMessage?.headersSent === true
}
