import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface RespondingSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

/**
 * Whether the headers of a response were sent on an HTTP/1.1 connection, so that other bytes would corrupt it. Node's own
 * `clientError` handler also reads `_httpMessage` for this. Checked with Node 20.20, 22.23, 24.21 and 24.22.
 */
export function hasResponseUnderWay(socket: Socket): boolean {
  return (socket as RespondingSocket)._httpMessage?.headersSent === true
}
