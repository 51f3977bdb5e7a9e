import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { registerDocsPage } from './docs-page.js'
import { sliced } from './sliced.js'

/** The documents, which `npm run generate` writes. The build puts them next to the bundled service. */
export const DOCUMENTS = ['openapi.json', 'asyncapi.json'] as const

/**
 * Serves the API's reference: `/openapi.json`, `/asyncapi.json`, and `/docs`, which shows the first. Requests for them do
 * not count against a limit (docs/decisions.md, D8).
 */
export function registerReference(server: FastifyInstance): void {
  const openApi = readDocument('openapi.json')
  // Without its last brace: the servers follow.
  const asyncApi = readDocument('asyncapi.json').subarray(0, -1)
  serveDocument(server, '/openapi.json', () => [openApi])
  serveDocument(server, '/asyncapi.json', (request) => [
    asyncApi,
    Buffer.from(`,"servers":${JSON.stringify(asyncApiServers(originOf(request)))}}`),
  ])
  registerDocsPage(server)
}

/** Reads a document without the spaces, which are for readers of the repository. */
function readDocument(name: (typeof DOCUMENTS)[number]): Buffer {
  const path = import.meta.url.endsWith('.ts') ? `../../../gen/${name}` : name
  return Buffer.from(JSON.stringify(JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))))
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

/** The address by which the reader of a document reached the instance. */
export interface Origin {
  /** Host, with the port unless it is the protocol's default. */
  readonly host: string
  readonly isSecure: boolean
}

/** The servers of the AsyncAPI document: the WebSocket and the server-sent events of one origin. */
export function asyncApiServers({ host, isSecure }: Origin): object {
  const [webSocket, http] = isSecure ? ['wss', 'https'] : ['ws', 'http']
  return { webSocket: { host, protocol: webSocket }, http: { host, protocol: http } }
}

/** A name or address, with or without a port. */
const HOST = /^([\w.-]+|\[[0-9a-f:.]+\])(:[0-9]+)?$/i

/** The address by which the request reached the instance, or the trusted proxy before it. */
function originOf({ host, protocol, socket }: FastifyRequest): Origin {
  return { host: HOST.test(host) ? host : `localhost:${socket.localPort}`, isSecure: protocol === 'https' }
}
