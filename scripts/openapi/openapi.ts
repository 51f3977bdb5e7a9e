import type { Contract } from './contract.js'
import { descriptionOf } from './descriptions.js'
import { examplesOf, methodPaths, responseMessages } from './operations.js'
import { FIELD_VIOLATION, failureResponse, HEADERS } from './responses.js'
import { namedSchemas } from './schemas.js'
import { solverWebhooks } from './solver-webhook.js'
import { streamPaths } from './stream-operations.js'
import { processPaths } from './system-paths.js'
import { unwrap } from './unwrap.js'

const ABOUT = unwrap(`
The best quote for a token swap, from the registered solvers of a chain. The same port serves the same methods as gRPC,
gRPC-Web and Connect; server reflection describes them. [/asyncapi.json](/asyncapi.json) describes the messages of the
event stream.

- **Integers** in requests may also be decimal strings, and \`null\` stands for an absent field. The service ignores unknown
  fields of a body. A path with query parameters rejects unknown ones, as each may be a misspelt filter.
- **Amounts** are decimal strings in the smallest unit of their token, up to 2^256-1.
- **Errors** all have one shape: \`error\`, a sentence for a person; \`code\`, one of a closed list; \`details\` for bad input.
  An unknown path is 404 \`ROUTE_NOT_FOUND\`. A verb that a path does not accept is 405 \`METHOD_NOT_ALLOWED\`. An unsupported
  chain is 404, also when something else is wrong.
- **Limits** count by API key, which servers may have, else by client address, in fixed windows. Responses have \`RateLimit-Limit\`, \`RateLimit-Remaining\` and
  \`RateLimit-Reset\`; rejections also have \`Retry-After\`.
- **Examples** come from a local network, whose chain id is 31337.
`)

/** Derives the OpenAPI 3.1 document of everything that the service serves over HTTP. */
export function openApiOf({ version, methods, stream, samples }: Contract): object {
  const services = [...new Set([...methods, stream].map(({ parent }) => parent))]
  const notFound = { status: 404, reasons: ['ROUTE_NOT_FOUND'] } as const
  const notAllowed = { status: 405, reasons: ['METHOD_NOT_ALLOWED'] } as const
  const allow = { Allow: { required: true, schema: { type: 'string', minLength: 1 } } }
  const unrouted = samples.filter(({ of }) => of === 'unrouted')
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quote aggregator',
      version,
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    // A key is needed only where the operator asks for it.
    security: [{}, { apiKey: [] }],
    tags: [
      ...services.map((service) => ({ name: service.name, description: descriptionOf(service) })),
      { name: 'Process', description: 'The instance itself.' },
    ],
    paths: {
      ...methodPaths(methods, samples),
      ...streamPaths(stream, samples),
      ...processPaths(samples),
    },
    webhooks: solverWebhooks(samples),
    components: {
      schemas: { ...namedSchemas(responseMessages(methods)), FieldViolation: FIELD_VIOLATION },
      headers: HEADERS,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        metrics: { type: 'http', scheme: 'basic' },
      },
    },
    // The responses to requests that reach no operation.
    'x-rejections': {
      RouteNotFound: failureResponse(notFound, examplesOf(unrouted, 404)),
      MethodNotAllowed: failureResponse(notAllowed, examplesOf(unrouted, 405), { headers: allow }),
    },
  }
}
