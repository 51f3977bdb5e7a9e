import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { version } from '../config/version.js'

/** What happened in a span of time, in Unix milliseconds. Attributes without a value are left out. */
export interface Span {
  readonly name: string
  /** Internal by default. */
  readonly kind?: keyof typeof KINDS
  readonly startMs: number
  readonly endMs: number
  readonly attributes?: Attributes
  readonly isError?: boolean
  readonly children?: readonly Span[]
}

type Attributes = Readonly<Record<string, string | number | undefined>>

/** The spans of one request. */
export interface Trace {
  /** The caller's `traceparent` (W3C Trace Context, version 00). */
  readonly parent: string | undefined
  readonly root: Span
}

/** SpanKind of OpenTelemetry. */
const KINDS = { internal: 1, server: 2, client: 3 } as const
const STATUS_ERROR = 2

const RESOURCE = {
  attributes: toAttributes({
    'service.name': 'quote-aggregator',
    'service.version': version,
    'host.name': hostname(),
    'process.pid': process.pid,
  }),
}

/** The JSON text of an ExportTraceServiceRequest of OpenTelemetry. Ids are hex, unlike bytes in other JSON of Protobuf. */
export function toRequestBody(traces: readonly Trace[]): string {
  const spans = traces.flatMap(({ parent, root }) => {
    const [, traceId = randomId(16), parentSpanId] = parent?.split('-') ?? []
    return toSpans(root, traceId, parentSpanId)
  })
  const scopeSpans = [{ scope: { name: 'quote-aggregator', version }, spans }]
  return JSON.stringify({ resourceSpans: [{ resource: RESOURCE, scopeSpans }] })
}

function toSpans(span: Span, traceId: string, parentSpanId: string | undefined): object[] {
  const { name, kind = 'internal', startMs, endMs, attributes = {}, isError = false, children = [] } = span
  const spanId = randomId(8)
  const own = {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanos(startMs),
    endTimeUnixNano: toNanos(endMs),
    attributes: toAttributes(attributes),
    status: isError ? { code: STATUS_ERROR } : undefined,
  }
  return [own, ...children.flatMap((child) => toSpans(child, traceId, spanId))]
}

/** Numbers are integers. */
function toAttributes(attributes: Attributes): object[] {
  const present = Object.entries(attributes).filter(([, value]) => value !== undefined)
  return present.map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }))
}

function randomId(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

/** To the microsecond: a number has no room for more. */
function toNanos(ms: number): string {
  return `${Math.round(ms * 1000)}000`
}
