import type { FastifyInstance } from 'fastify'
import { asyncApiOf } from './asyncapi.js'
import { registerDocsPage } from './docs-page.js'
import { type Contract, openApiOf } from './openapi.js'
import { events, exchanges } from './samples.js'

/**
 * Serves the API's reference: `/openapi.json`, `/asyncapi.json`, and `/docs`, which shows the first. Nobody's requests
 * for them are counted (decisions.md D8).
 */
export function registerReference(server: FastifyInstance, contract: Omit<Contract, 'samples'>): void {
  const whole = { ...contract, samples: exchanges }
  serveDocument(server, '/openapi.json', () => openApiOf(whole))
  serveDocument(server, '/asyncapi.json', () => asyncApiOf(whole, events))
  registerDocsPage(server)
}

/** Derives the document when it is first asked for, and keeps its text. */
function serveDocument(server: FastifyInstance, path: string, derive: () => object): void {
  let text: Buffer | undefined
  server.get(path, (_request, reply) => {
    text ??= Buffer.from(JSON.stringify(derive()))
    reply.type('application/json; charset=utf-8').send(text)
  })
}
