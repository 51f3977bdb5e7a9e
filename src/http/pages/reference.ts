import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { CONSOLE_POLICY, type ConsoleIdentity, withIdentity } from './console.js'
import { readStaticFile, sendSlices, sendStaticFile } from './static-files.js'

/** The documents, which `npm run generate` writes. The build puts them next to the bundled service. */
export const DOCUMENTS = ['openapi.json', 'asyncapi.json'] as const

/**
 * Serves the API's reference: `/openapi.json`, `/asyncapi.json`, and `/docs`, which shows the first. Requests for them do
 * not count against a limit (docs/decisions.md, D8). @param identity of the console; undefined without one
 */
export function registerReference(server: FastifyInstance, identity: ConsoleIdentity | undefined): void {
  for (const name of DOCUMENTS) {
    const document = readDocument(name)
    server.get(`/${name}`, (_request, reply) => {
      sendSlices(reply.type('application/json; charset=utf-8'), document)
    })
  }
  registerDocsPage(server, identity)
}

/** Reads a document without the spaces, which are for readers of the repository. */
function readDocument(name: (typeof DOCUMENTS)[number]): Buffer {
  const path = import.meta.url.endsWith('.ts') ? `../../../gen/${name}` : name
  return Buffer.from(JSON.stringify(JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))))
}

/** For a user who opens the address of an instance without a console. */
const WELCOME = 'The reference of this API is at /docs.\n'

/** The files of Swagger UI that the page loads. */
export const SWAGGER_UI_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'] as const
/** The page's own files, in a folder beside this file and beside the bundled service. */
export const DOCS_FOLDER = new URL('docs', import.meta.url)
const OWN_FILES = ['start.js', 'theme.js', 'style.css']
const FOR_AN_HOUR = 'public, max-age=3600'
/** The page and Swagger UI need the sources of the console and no others. Its form is the search of the console. */
const PAGE_POLICY = `${CONSOLE_POLICY}; form-action 'self'`
const CONSOLE_LINKS = /<span class="console">.*?<\/span>/

/** Leads from `/` to `/docs`, in an instance without a console. */
export function redirectToDocs(server: FastifyInstance): void {
  server.get('/', (_request, reply) => {
    reply.code(302).header('location', 'docs').type('text/plain; charset=utf-8').send(WELCOME)
  })
}

/**
 * Serves `/docs`, which shows `/openapi.json` with Swagger UI in the look of the console. Addresses are relative, so that
 * the page works under any prefix that a proxy may add.
 */
function registerDocsPage(server: FastifyInstance, identity: ConsoleIdentity | undefined): void {
  const folder = fileURLToPath(DOCS_FOLDER)
  const html = readStaticFile(folder, 'index.html')
  const alone = { ...html, content: Buffer.from(`${html.content}`.replace(CONSOLE_LINKS, '')) }
  const page = identity ? withIdentity(html, identity) : alone
  server.get('/docs', (request, reply) => {
    reply.header('content-security-policy', PAGE_POLICY)
    sendStaticFile(request, reply, page)
  })
  server.get('/docs/', (_request, reply) => reply.redirect('../docs'))
  // For agents, at the usual place (llmstxt.org).
  const llms = readStaticFile(folder, 'llms.txt')
  server.get('/llms.txt', (request, reply) => sendStaticFile(request, reply, llms))
  for (const name of OWN_FILES) {
    const file = readStaticFile(folder, name)
    server.get(`/docs/${name}`, (request, reply) => sendStaticFile(request, reply, file))
  }
  for (const name of SWAGGER_UI_FILES) {
    const file = readStaticFile(assetFolder(), name)
    // Browsers request an icon at its usual path when they show JSON.
    for (const path of name.endsWith('.png') ? [`/docs/${name}`, '/favicon.ico'] : [`/docs/${name}`])
      server.get(path, (request, reply) => {
        reply.header('cache-control', FOR_AN_HOUR)
        sendStaticFile(request, reply, file)
      })
  }
}

/** The build puts the files next to the bundled service. */
function assetFolder(): string {
  return import.meta.url.endsWith('.ts')
    ? swaggerUiFolder()
    : fileURLToPath(new URL('swagger-ui', import.meta.url))
}

/**
 * The folder of Swagger UI's files in the package @fastify/swagger-ui. The package does not document where they are. Checked
 * with @fastify/swagger-ui 6.1.3.
 */
export function swaggerUiFolder(): string {
  const packageFile = createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')
  return join(dirname(packageFile), 'static')
}
