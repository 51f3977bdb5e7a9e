import type { FastifyRequest } from 'fastify'
import { noteClientAddress } from './client-address.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request arrived, in milliseconds of `performance.now()`. */
    arrivedAt: number
  }
}

/**
 * Notes when a request arrived, and the IP address of its client. Fastify's own `elapsedTime` is always 0 for routes
 * without an `onResponse` hook.
 * @returns false when the connection has ended before, so that nothing needs an answer
 */
export function noteArrival(request: FastifyRequest): boolean {
  request.arrivedAt = performance.now()
  return noteClientAddress(request)
}

/** Milliseconds since a request arrived. */
export function elapsedMs(request: FastifyRequest): number {
  return performance.now() - request.arrivedAt
}
