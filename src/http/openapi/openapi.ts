import type { DescMethod } from '@bufbuild/protobuf'
import { descriptionOf } from './descriptions.js'
import type { Sample } from './example.js'
import { answeredMessages, examplesOf, methodPaths } from './operations.js'
import { FIELD_VIOLATION, failureResponse, HEADERS } from './responses.js'
import { namedSchemas } from './schemas.js'
import { solverWebhooks } from './solver-webhook.js'
import { streamPaths } from './stream-operations.js'
import { processPaths } from './system-paths.js'
import { unwrap } from './unwrap.js'

/** What the documents are derived from, beside comments, constraints and reasons. */
export interface Contract {
  readonly version: string
  /** The unary methods that are served. */
  readonly methods: readonly DescMethod[]
  /** The method of the event stream. */
  readonly stream: DescMethod
  readonly samples: readonly Sample[]
  /** Whether `/metrics` asks for a password. */
  readonly hasMetricsAuth: boolean
}

const ABOUT = unwrap(`
The best quote for a token swap, from every registered solver of a chain. The same methods are served as gRPC, gRPC-Web
and Connect on the same port; server reflection describes them. [/asyncapi.json](/asyncapi.json) describes the messages
of the event stream.

- **Integers** may be sent as decimal strings as well, and \`null\` stands for a field that is absent. Unknown fields of
  a body are ignored. A path that takes query parameters refuses any other one, which may be a misspelt filter. Amounts are decimal strings in the smallest unit of their token, up to 2^256-1.
- **Errors** all have one shape: \`error\`, a sentence for a person; \`code\`, one of a closed list; \`details\` for bad input.
  A path that is none is 404 \`ROUTE_NOT_FOUND\`, a verb that a path does not take is 405 \`METHOD_NOT_ALLOWED\`. An unsupported
  chain is 404 whatever else is wrong.
- **Limits** count by client address in fixed windows; answers carry \`RateLimit-Limit\`, \`RateLimit-Remaining\` and
  \`RateLimit-Reset\`, and a refusal \`Retry-After\`.
- **Examples** come from a local network, whose chain id is 31337.
`)

/** Derives the OpenAPI 3.1 document of all that is served over HTTP. */
export function openApiOf({ version, methods, stream, samples, hasMetricsAuth }: Contract): object {
  const services = [...new Set([...methods, stream].map(({ parent }) => parent))]
  const notFound = { status: 404, reasons: ['ROUTE_NOT_FOUND'] } as const
  const notAllowed = { status: 405, reasons: ['METHOD_NOT_ALLOWED'] } as const
  const allow = { Allow: { required: true, schema: { type: 'string', minLength: 1 } } }
  const refused = samples.filter(({ of }) => of === 'refused')
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quote aggregator',
      version,
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [],
    tags: [
      ...services.map((service) => ({ name: service.name, description: descriptionOf(service) })),
      { name: 'Process', description: 'The instance itself.' },
    ],
    paths: {
      ...methodPaths(methods, samples),
      ...streamPaths(stream, samples),
      ...processPaths(samples, hasMetricsAuth),
    },
    webhooks: solverWebhooks(samples),
    components: {
      schemas: { ...namedSchemas(answeredMessages(methods)), FieldViolation: FIELD_VIOLATION },
      headers: HEADERS,
      ...(hasMetricsAuth ? { securitySchemes: { metrics: { type: 'http', scheme: 'basic' } } } : {}),
    },
    // What reaches no operation.
    'x-refusals': {
      RouteNotFound: failureResponse(notFound, examplesOf(refused, 404)),
      MethodNotAllowed: failureResponse(notAllowed, examplesOf(refused, 405), { headers: allow }),
    },
  }
}
