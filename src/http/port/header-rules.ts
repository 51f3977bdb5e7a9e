import { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { ServiceError } from '../../../packages/protocol/src/errors.js'

type Request = IncomingMessage | Http2ServerRequest

const NOT_IMPLEMENTED = 501
const AUTHORITY_SHAPE = 'must be a host name or an IP address, with an optional port'

/**
 * Checks the host of a request, and the headers that a proxy before this service may read in another way than Node does.
 * REST accepts an empty Host and none, as health checks of load balancers send them.
 * @returns undefined for a valid request. Otherwise INVALID_ARGUMENT: 400 for a second or unusable Host header or
 * `:authority` (RFC 9112, section 3.2), 501 for a transfer coding before `chunked` (section 6.1).
 */
export function findHeaderError(request: Request): ServiceError | undefined {
  const { headers, rawHeaders } = request
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1) return invalidRequest('header', 'Host', 'must be given once')
  if (!isUsable(authorityOf(request))) return authorityError(request)
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return invalidRequest('header', 'Transfer-Encoding', 'must be chunked, or left out', NOT_IMPLEMENTED)
  return undefined
}

/**
 * Checks the parts that Connect builds a URL from, in addition to `findHeaderError`. Connect logs a stack trace when
 * that fails.
 * @returns INVALID_ARGUMENT for an empty Host or none, and for a request target that is an unusable URL
 */
export function findTargetError(request: Request): ServiceError | undefined {
  if (!authorityOf(request)) return authorityError(request)
  const { url = '' } = request
  if (url.startsWith('/') || URL.canParse(url)) return undefined
  return invalidRequest('request', 'path', 'must be a valid URL path')
}

/** A name or address, with or without a port. A URL's parser would take more than the host from other text. */
const AUTHORITY = /^([\w.-]+|\[[0-9a-f:.]+\])(:[0-9]*)?$/i

function isUsable(authority: string | undefined): boolean {
  return !authority || (AUTHORITY.test(authority) && URL.canParse(`http://${authority}`))
}

function authorityOf(request: Request): string | undefined {
  return 'authority' in request ? request.authority : request.headers.host
}

function authorityError(request: Request): ServiceError {
  return invalidRequest('header', 'authority' in request ? ':authority' : 'Host', AUTHORITY_SHAPE)
}

function invalidRequest(part: string, field: string, message: string, httpStatus?: number): ServiceError {
  const status = httpStatus === undefined ? {} : { httpStatus }
  return new ServiceError('INVALID_ARGUMENT', `The ${part} ${field} ${message}.`, {
    ...status,
    violations: [{ field, message }],
  })
}

/**
 * Builds the class of an HTTP/1.1 server's requests (its option `IncomingMessage`) in which only accepted ones become
 * upgrades. A server may ignore the others (RFC 9110, section 7.8), and then reads them like any request. Newer versions
 * of Node have the option `shouldUpgradeCallback`. Here, the parser's use of `upgrade` replaces it. Checked with Node
 * 20.20.
 */
export function upgradeFilter(isAccepted: (request: IncomingMessage) => boolean): typeof IncomingMessage {
  return class extends IncomingMessage {
    declare private wantsUpgrade: boolean | null

    get upgrade(): boolean {
      return this.wantsUpgrade === true && (this.method === 'CONNECT' || isAccepted(this))
    }

    /** Node's parser sets this, first in the constructor. */
    set upgrade(wantsUpgrade: boolean | null) {
      this.wantsUpgrade = wantsUpgrade
    }
  }
}

/** Whether a request asks for a WebSocket in a valid way. */
export function asksForWebSocket(request: IncomingMessage): boolean {
  const { headers, method } = request
  return (
    headers.upgrade?.toLowerCase() === 'websocket' &&
    method === 'GET' &&
    findHeaderError(request) === undefined
  )
}
