import { QuoteParametersSchema, QuoteSchema } from '../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../gen/aggregator/v1/solver_pb.js'
import { CHAIN_ID, MAX_REPLY_KIB, SIGNATURE, UNIX_MS } from '../../packages/protocol/src/field-rules.js'
import { type JsonSchema, schemaOf } from './constraints.js'
import type { Sample } from './example.js'
import { samplesOf } from './operations.js'
import { messageSchema, schemaReference } from './schemas.js'
import { unwrap } from './unwrap.js'

const DESCRIPTION = unwrap(`
The request that a registered solver gets: \`POST <endpointUrl>/quote\`, over HTTP/1.1. The whole reply must come before
the instance's time-out, and has at most ${MAX_REPLY_KIB} KiB. Every value of the reply that the request names must be the same, and
the solver signs exactly the values that it answers. Registration makes one such request as a check.
`)

const HEADERS = [
  {
    name: 'x-request-deadline',
    in: 'header',
    required: true,
    description: 'When the service stops waiting for the reply, Unix time in milliseconds.',
    schema: { type: 'integer', ...schemaOf(UNIX_MS) },
  },
  {
    name: 'x-quote-id',
    in: 'header',
    description:
      "The solver's own id of this quote: `GET /v1/{chainId}/quote/{quoteId}` shows what came of its reply. Absent in a check.",
    schema: { type: 'string', format: 'uuid' },
  },
  {
    name: 'x-quote-kind',
    in: 'header',
    description:
      '`indicative` when no user can deposit with the reply: for a price, and in a check at registration.',
    schema: { const: 'indicative' },
  },
]

/** Derives the webhook of solvers: what an instance sends to each endpoint, and what it expects. */
export function solverWebhooks(samples: readonly Sample[]): object {
  const success = (operation: string) =>
    samplesOf(operation, samples).find(({ status }) => status === 200)?.body as Body | undefined
  const record = success('GET /v1/{chainId}/quote/{quoteId}')
  const quoted = success('POST /v1/{chainId}/quote')
  const request = record && { ...(record.request as object), chainId: record.chainId }
  const reply = quoted && { quote: quoted.quote, signature: quoted.solverSignature }
  return {
    requestQuote: {
      post: {
        operationId: 'requestQuote',
        summary: 'RequestQuote, sent to solvers',
        description: DESCRIPTION,
        tags: [SolverService.name],
        parameters: HEADERS,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: requestSchema(), example: request } },
        },
        responses: {
          200: {
            description: 'A signed offer.',
            content: { 'application/json': { schema: REPLY, examples: { sample: { value: reply } } } },
          },
          default: {
            description:
              'No offer. Decline with 422 or 503. Redirects are not followed; other statuses from 500 on count as errors.',
          },
        },
      },
    },
  }
}

type Body = Readonly<Record<string, unknown>>

/** The parameters of a quote, and the chain of the deposit. */
function requestSchema(): JsonSchema {
  const { required, properties } = messageSchema(QuoteParametersSchema) as {
    required: string[]
    properties: object
  }
  const chainId = {
    type: 'integer',
    ...schemaOf(CHAIN_ID),
    description: 'The chain of the deposit.',
  }
  return {
    type: 'object',
    required: [...required, 'chainId'],
    properties: { ...properties, chainId },
  }
}

const REPLY: JsonSchema = {
  type: 'object',
  required: ['quote', 'signature'],
  properties: {
    quote: schemaReference(QuoteSchema),
    signature: {
      type: 'string',
      ...schemaOf(SIGNATURE),
      description:
        "The solver's EIP-712 signature over the quote: 65 bytes, v 27 or 28, s in the lower half of the curve's order.",
    },
  },
}
