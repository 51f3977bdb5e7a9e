import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sliced } from '../sliced.js'
import { asyncApiOf, asyncApiServers, type Origin } from './asyncapi.js'
import { registerDocsPage } from './docs-page.js'
import { events, exchanges } from './examples.js'
import { type Contract, openApiOf } from './openapi.js'

/**
 * Serves the API's reference: `/openapi.json`, `/asyncapi.json`, and `/docs`, which shows the first. Requests for them do
 * not count against a limit (docs/decisions.md, D8).
 */
export function registerReference(server: FastifyInstance, contract: Omit<Contract, 'samples'>): void {
  const whole = { ...contract, samples: exchanges }
  const openApi = once(() => Buffer.from(JSON.stringify(openApiOf(whole))))
  const asyncApi = once(() => Buffer.from(JSON.stringify(asyncApiOf(whole, events)).slice(0, -1)))
  serveDocument(server, '/openapi.json', () => [openApi()])
  serveDocument(server, '/asyncapi.json', (request) => [
    asyncApi(),
    Buffer.from(`,"servers":${JSON.stringify(asyncApiServers(originOf(request)))}}`),
  ])
  registerDocsPage(server)
}

/** @param partsFor all responses share the long parts, so that many slow clients hold no copies of a document */
function serveDocument(
  server: FastifyInstance,
  path: string,
  partsFor: (request: FastifyRequest) => readonly Buffer[],
): void {
  server.get(path, (request, reply) => {
    const parts = partsFor(request)
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    reply
      .type('application/json; charset=utf-8')
      .header('content-length', length)
      .send(sliced(...parts))
  })
}

/** Derives a value at the first call, and keeps it. */
function once<T>(derive: () => T): () => T {
  let kept: { readonly value: T } | undefined
  return () => {
    kept ??= { value: derive() }
    return kept.value
  }
}

/** A name or address, with or without a port. */
const HOST = /^([\w.-]+|\[[0-9a-f:.]+\])(:[0-9]+)?$/i

/** The address by which the request reached the instance, or the trusted proxy before it. */
function originOf({ host, protocol, socket }: FastifyRequest): Origin {
  return { host: HOST.test(host) ? host : `localhost:${socket.localPort}`, isSecure: protocol === 'https' }
}
