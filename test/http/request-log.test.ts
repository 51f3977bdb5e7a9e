import Fastify from 'fastify'
import { pino } from 'pino'
import { afterEach, expect, it, vi } from 'vitest'
import type { Reason } from '../../packages/protocol/src/errors.js'
import { identifyClient } from '../../src/clients/client-id.js'
import { createRequestLog } from '../../src/http/request-log.js'

afterEach(() => void vi.useRealTimers())

it.each<[string, number, number, Reason | undefined, boolean]>([
  ['a quick request', 999, 200, undefined, false],
  ['a slow request', 1000, 200, undefined, true],
  ['an error of the caller', 0, 404, 'CHAIN_NOT_SUPPORTED', false],
  ['an error of the service', 0, 503, 'NO_QUOTES', true],
  ['an error of the service with status 200, as gRPC has it', 0, 200, 'NO_QUOTES', true],
])(
  'of share 0, %s of %i ms with status %i and %s is logged: %s',
  async (_, tookMs, status, reason, isLogged) => {
    // The time stands still.
    vi.useFakeTimers({ toFake: ['performance'] })
    const lines: string[] = []
    const server = Fastify()
    createRequestLog(server, pino({}, { write: (line) => void lines.push(line) }), 0)
    server.get('/', async (request, reply) => {
      request.arrivedAt = performance.now() - tookMs
      request.client = identifyClient('192.0.2.1')
      request.rejection = reason && { reason, quoteId: undefined }
      return reply.code(status).send()
    })
    await server.inject('/')
    await server.close()
    expect(lines).toHaveLength(isLogged ? 1 : 0)
  },
)
