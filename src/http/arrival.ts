import type { FastifyRequest } from 'fastify'
import { recordClientAddress } from './client-address.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request arrived, in milliseconds of `performance.now()`. */
    arrivedAt: number
  }
}

/**
 * Records when a request arrived, and the IP address of its client. Fastify's own `elapsedTime` is always 0 for routes
 * without an `onResponse` hook.
 * @returns false when the connection has already ended, so that no response is needed
 */
export function recordArrival(request: FastifyRequest): boolean {
  request.arrivedAt = performance.now()
  return recordClientAddress(request)
}

/** Milliseconds since a request arrived. */
export function elapsedMs(request: FastifyRequest): number {
  return performance.now() - request.arrivedAt
}
