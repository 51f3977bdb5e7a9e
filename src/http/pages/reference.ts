import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { swaggerUiFolder } from '../../internals/swagger-ui-folder.js'
import { inSlices } from './console.js'
import { docsPage, PAGE_POLICY, START, STYLE, THEME } from './docs-page.js'

/** The documents, which `npm run generate` writes. The build puts them next to the bundled service. */
export const DOCUMENTS = ['openapi.json', 'asyncapi.json'] as const

/**
 * Serves the API's reference: `/openapi.json`, `/asyncapi.json`, and `/docs`, which shows the first. Requests for them do
 * not count against a limit (docs/decisions.md, D8).
 */
export function registerReference(server: FastifyInstance, site: { readonly hasConsole: boolean }): void {
  const openApi = readDocument('openapi.json')
  // Without its last brace: the servers follow.
  const asyncApi = readDocument('asyncapi.json').subarray(0, -1)
  serveDocument(server, '/openapi.json', () => [openApi])
  serveDocument(server, '/asyncapi.json', (request) => [
    asyncApi,
    Buffer.from(`,"servers":${JSON.stringify(asyncApiServers(originOf(request)))}}`),
  ])
  registerDocsPage(server, docsPage(site))
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
      .send(inSlices(...parts))
  })
}

/** The address by which the reader of a document reached the instance. */
interface Origin {
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

/** For a user who opens the address of an instance without a console. */
const WELCOME = 'The reference of this API is at /docs, its OpenAPI document at /openapi.json.\n'

/** The files of Swagger UI that the page loads. */
export const SWAGGER_UI_FILES = [
  { name: 'swagger-ui-bundle.js', type: 'text/javascript; charset=utf-8' },
  { name: 'swagger-ui.css', type: 'text/css; charset=utf-8' },
  { name: 'favicon-32x32.png', type: 'image/png' },
] as const
const SERVED_FILES: readonly { readonly name: string; readonly path?: string; readonly type: string }[] = [
  ...SWAGGER_UI_FILES,
  // Browsers request it when they show JSON.
  { name: 'favicon-32x32.png', path: '/favicon.ico', type: 'image/png' },
]
const OWN_FILES = [
  ['start.js', 'text/javascript', START],
  ['theme.js', 'text/javascript', THEME],
  ['style.css', 'text/css', STYLE],
] as const
const FOR_AN_HOUR = 'public, max-age=3600'

/** Leads from `/` to `/docs`, in an instance without a console. */
export function redirectToDocs(server: FastifyInstance): void {
  server.get('/', (_request, reply) => {
    reply.code(302).header('location', 'docs').type('text/plain; charset=utf-8').send(WELCOME)
  })
}

/**
 * Serves Swagger UI with `/openapi.json` at `/docs`. Reads the files once at the start, so that a slow client holds no file
 * open.
 */
function registerDocsPage(server: FastifyInstance, page: string): void {
  const folder = assetFolder()
  server.get('/docs', (_request, reply) => {
    reply.header('content-security-policy', PAGE_POLICY).type('text/html; charset=utf-8').send(page)
  })
  server.get('/docs/', (_request, reply) => reply.redirect('../docs'))
  for (const [name, type, text] of OWN_FILES)
    server.get(`/docs/${name}`, (_request, reply) => {
      reply.type(`${type}; charset=utf-8`).send(text)
    })
  for (const { name, path = `/docs/${name}`, type } of SERVED_FILES) {
    const content = readFileSync(join(folder, name))
    server.get(path, (_request, reply) => {
      reply.type(type).header('cache-control', FOR_AN_HOUR)
      reply.header('content-length', content.length).send(inSlices(content))
    })
  }
}

/** The build puts the files next to the bundled service. */
function assetFolder(): string {
  return import.meta.url.endsWith('.ts')
    ? swaggerUiFolder()
    : fileURLToPath(new URL('swagger-ui', import.meta.url))
}
