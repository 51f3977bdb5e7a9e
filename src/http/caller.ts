import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidArgument } from '../domain/errors.js'
import type { Call } from '../rpc/method.js'
import type { Client } from '../rpc/rate-limits.js'
import { clientAddress } from './client-address.js'

const MAX_TIMEOUT_DIGITS = /^[0-9]{1,10}$/

/** Whoever made a request, as far as limits go. */
export function toClient(request: FastifyRequest, reply: FastifyReply): Client {
  return { address: clientAddress(request), setHeader: (name, value) => void reply.header(name, value) }
}

/** A REST request as a call of a method. */
export function toCall(request: FastifyRequest, reply: FastifyReply): Call {
  const { raw } = reply
  let isGone = false
  return {
    protocol: 'rest',
    requestId: request.id,
    isGone: () => isGone,
    onGone(listener) {
      const onClose = () => {
        if (raw.writableFinished) return
        isGone = true
        listener()
      }
      raw.once('close', onClose)
      return () => raw.off('close', onClose)
    },
    timeoutMs: timeoutOf(request),
    address: clientAddress(request),
    setHeader: (name, value) => void reply.header(name, value),
  }
}

/** The caller's own deadline, in the header that Connect clients send. */
function timeoutOf(request: FastifyRequest): number | undefined {
  const text = request.headers['connect-timeout-ms']
  if (text === undefined) return undefined
  if (typeof text === 'string' && MAX_TIMEOUT_DIGITS.test(text)) return Number(text)
  throw invalidArgument([{ field: 'Connect-Timeout-Ms', message: 'must be milliseconds, at most 10 digits' }])
}
