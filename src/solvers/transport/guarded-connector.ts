import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { noteLostConnection } from '../../internals/lost-connection.js'
import type { EndpointGuard } from './endpoint-guard.js'
import { ReplyTooLongError } from './fail-reason.js'

const CONNECT_TIMEOUT_MS = 5000

interface ConnectorOptions {
  /** The limit of a whole reply on the wire, with its framing and with informational responses before it. */
  readonly maxWireBytes: number
  /** Gets the errors of kept connections that their solvers closed before any byte of the response. */
  readonly lost: WeakSet<Error>
}

/**
 * Builds the connector of the solver client.
 * @param guard checks every connection before it is opened
 */
export function createGuardedConnector(
  guard: EndpointGuard,
  { maxWireBytes, lost }: ConnectorOptions,
): buildConnector.connector {
  const connectorFor = (protocol: string) =>
    buildConnector({ lookup: guard.lookupFor(protocol), timeout: CONNECT_TIMEOUT_MS })
  const connectTls = connectorFor('https:')
  const connectPlain = connectorFor('http:')
  return (options, callback) => {
    try {
      guard.assertDiallable(options.protocol, options.hostname)
    } catch (error) {
      callback(error as Error, null)
      return
    }
    const connect = options.protocol === 'https:' ? connectTls : connectPlain
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      limitReplies(socket, maxWireBytes)
      noteLostConnection(socket, lost)
      callback(null, socket)
    })
  }
}

/**
 * Ends an endless reply. It limits the bytes outside of body and headers, which undici does not count: informational
 * responses, chunk extensions, blanks. A reply begins with the first bytes after a request was written.
 */
function limitReplies(socket: Socket, maxWireBytes: number): void {
  let written = -1
  let read = socket.bytesRead
  let beginning = read
  socket.on('readable', () => {
    if (socket.bytesWritten !== written) beginning = read
    written = socket.bytesWritten
    read = socket.bytesRead
    if (read - beginning > maxWireBytes) socket.destroy(new ReplyTooLongError())
  })
}
