import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../domain/errors.js'

const NOT_IMPLEMENTED = 501

/**
 * Refuses requests that a proxy before this service may read in another way than Node does.
 * @throws ServiceError INVALID_ARGUMENT: 400 for a second Host header (RFC 9112, section 3.2), 501 for a transfer
 * coding other than `chunked` (section 6.1)
 */
export function assertUnambiguous({ headers, rawHeaders }: IncomingMessage): void {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1) throw refusal('Host', 'must be given once')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw refusal('Transfer-Encoding', 'must be chunked, or left out', NOT_IMPLEMENTED)
}

function refusal(field: string, message: string, httpStatus?: number): ServiceError {
  const status = httpStatus === undefined ? {} : { httpStatus }
  return new ServiceError('INVALID_ARGUMENT', `The header ${field} ${message}.`, {
    ...status,
    violations: [{ field, message }],
  })
}
