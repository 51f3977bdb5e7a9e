import type { ServerResponse } from 'node:http'

/**
 * Ends a response whose connection has ended while it waited for earlier responses of the connection. Node 20 and 22 report the
 * end only to the response that has the connection: the others get no `close` event. Node 24 reports it to all of them in the same
 * turn, which is waited for. Checked with Node 20.20, 22.23, 24.21 and 24.22.
 */
export function closeQueuedResponse(response: ServerResponse): void {
  if (response.socket !== null) return
  setImmediate(() => {
    if (!response.closed) response.destroy().emit('close')
  })
}
