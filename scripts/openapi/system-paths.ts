import { ChainStatusSchema } from '../../gen/aggregator/v1/chain_health_pb.js'
import { CHAIN_ID, UINT64 } from '../../packages/protocol/src/field-rules.js'
import { type JsonSchema, schemaOf } from './constraints.js'
import type { Sample } from './example.js'
import { examplesOf, type Paths, samplesOf } from './operations.js'
import { failureResponse, headersOf, jsonResponse } from './responses.js'
import { enumSchema, valuesDescription } from './schemas.js'

const COUNT = { type: 'integer', ...schemaOf(UINT64) }
const CHAIN = { type: 'integer', ...schemaOf(CHAIN_ID) }

const CHAIN_HEALTH: JsonSchema = {
  type: 'object',
  required: ['chainId', 'status'],
  properties: {
    chainId: CHAIN,
    status: { ...enumSchema(ChainStatusSchema), description: valuesDescription(ChainStatusSchema) },
    headBlock: { ...COUNT, description: 'The last block seen; absent before the first one.' },
    lagMs: { ...COUNT, description: 'Age of that block in milliseconds.' },
    clockSkewMs: {
      type: 'integer',
      description:
        "How far the machine's clock is ahead of the chain, negative when it is behind. Present beyond 30 s.",
    },
    unread: {
      type: 'object',
      description: 'The next block, when it could not be read for a minute.',
      required: ['block', 'endpoint', 'reason'],
      properties: {
        block: COUNT,
        member: { type: 'string', description: "The member of the node's answer that cannot be read." },
        endpoint: { type: 'string', description: 'The host of the endpoint.' },
        reason: { type: 'string', description: "The node's words." },
      },
    },
    endpoints: {
      type: 'array',
      description:
        'The endpoints that have lost their place, as this replica sees them. Absent when there are none.',
      items: {
        type: 'object',
        required: ['endpoint', 'problem'],
        properties: {
          endpoint: { type: 'string', description: 'The host of the endpoint.' },
          problem: {
            enum: ['STANDS_STILL', 'OTHER_CHAIN'],
            description:
              "`STANDS_STILL`: its head does not move while another one's does. `OTHER_CHAIN`: it serves another chain.",
          },
          headBlock: { ...COUNT, description: 'The last head that it gave.' },
        },
      },
    },
  },
}

const HEALTH: JsonSchema = {
  type: 'object',
  required: [
    'status',
    'version',
    'uptime',
    'timestamp',
    'supportedChains',
    'activeSolvers',
    'database',
    'chains',
  ],
  properties: {
    status: {
      enum: ['ok', 'degraded'],
      description: '`degraded` while the database or some chain is `down`.',
    },
    version: { type: 'string', minLength: 1 },
    uptime: { ...COUNT, description: 'Seconds since the start.' },
    timestamp: { ...COUNT, description: 'Unix time in milliseconds.' },
    supportedChains: { type: 'array', items: CHAIN },
    activeSolvers: {
      type: 'object',
      description: 'Number of active solvers by chain id.',
      propertyNames: { pattern: '^[1-9][0-9]*$' },
      additionalProperties: COUNT,
    },
    database: {
      enum: ['ok', 'down'],
      description:
        '`down` while the database does not answer, or its file cannot be used. Then quotes continue, registrations are 503, and event streams wait.',
    },
    chains: { type: 'array', items: CHAIN_HEALTH },
  },
}

const READY: JsonSchema = {
  type: 'object',
  required: ['status'],
  properties: { status: { const: 'ready' } },
}

const NOT_READY = { status: 503, reasons: ['CHAIN_UNAVAILABLE', 'SHUTTING_DOWN'] } as const
const INTERNAL = { status: 500, reasons: ['INTERNAL'] } as const

/** The paths about the process itself, which belong to no method (docs/decisions.md, D11). */
export function processPaths(samples: readonly Sample[]): Paths {
  const of = (path: string) => samplesOf(`GET ${path}`, samples)
  const headers = headersOf({ isLimited: false })
  const internal = (path: string) =>
    failureResponse(INTERNAL, examplesOf(of(path), 500), { isLimited: false })
  return {
    '/health': {
      get: {
        operationId: 'getHealth',
        security: [],
        summary: 'Health',
        description:
          'The state of the instance, its database and its chains. The status is 200 for as long as the process serves.',
        tags: ['Process'],
        responses: {
          200: jsonResponse('The state of the instance.', HEALTH, examplesOf(of('/health'), 200), headers),
          500: internal('/health'),
        },
      },
    },
    '/health/ready': {
      get: {
        operationId: 'getReadiness',
        security: [],
        summary: 'Readiness',
        description:
          'Whether a load balancer should send requests here: 200 while at least one chain can be used, otherwise 503. From SIGTERM on it is 503.',
        tags: ['Process'],
        responses: {
          200: jsonResponse('The instance is ready.', READY, examplesOf(of('/health/ready'), 200), headers),
          503: failureResponse(NOT_READY, examplesOf(of('/health/ready'), 503), { isLimited: false }),
        },
      },
    },
    '/metrics': {
      get: {
        operationId: 'getMetrics',
        summary: 'Metrics',
        description: 'Metrics for Prometheus. The operator may require a password (`METRICS_AUTH`).',
        tags: ['Process'],
        security: [{}, { metrics: [] }],
        responses: {
          200: {
            description: "Prometheus's text format.",
            headers,
            content: {
              'text/plain': { schema: { type: 'string' }, examples: examplesOf(of('/metrics'), 200) },
            },
          },
          401: unauthorized(of('/metrics'), headers),
          500: internal('/metrics'),
        },
      },
    },
  }
}

function unauthorized(samples: readonly Sample[], headers: object): object {
  return {
    description: 'The password is missing or wrong.',
    headers: { ...headers, 'WWW-Authenticate': { required: true, schema: { type: 'string' } } },
    content: { 'text/plain': { schema: { type: 'string' }, examples: examplesOf(samples, 401) } },
  }
}
