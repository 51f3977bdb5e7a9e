import type { IncomingHttpHeaders } from 'node:http'
import { type Document, operationsOf, readDocument } from './document.js'
import type { Exchange } from './exchanges.js'

type Answer = Omit<Exchange, 'sent'>

/** Headers that are always there when they are documented. */
const DOCUMENTED_HEADERS = /^(x-request-id|ratelimit-.+|retry-after|allow|www-authenticate|upgrade)$/

/** What an OpenAPI document promises, for a comparison with responses. */
export function readPromises(openApi: Document) {
  const read = readDocument(openApi)

  /** Where the response to this request is promised: in common for a request that reaches no operation. */
  function placeOf({ of, status }: Answer): string[] {
    const [verb = '', path = ''] = of.split(' ')
    const isPath = openApi.paths[path] !== undefined
    const isVerb = openApi.paths[path]?.[verb.toLowerCase()] !== undefined
    if (!isPath && status === 404) return ['x-rejections', 'RouteNotFound']
    if (isPath && !isVerb && status === 405) return ['x-rejections', 'MethodNotAllowed']
    return ['paths', path, verb.toLowerCase(), 'responses', String(status)]
  }

  function at(place: readonly string[]): Document {
    return place.reduce((value, key) => value?.[key], openApi)
  }

  function headerProblems(promised: Document, { headers, reason }: Answer): string[] {
    const names = Object.keys(promised).filter((name) => appliesTo(promised[name], reason))
    const documented = new Set(names.map((name) => name.toLowerCase()))
    const others = Object.keys(headers).filter(
      (name) => DOCUMENTED_HEADERS.test(name) && !documented.has(name),
    )
    const bad = names.filter((name) => !isAsPromised(promised[name], headers[name.toLowerCase()]))
    return [
      ...others.map((name) => `${name} is not documented`),
      ...bad.map((name) => `${name} is not as promised`),
    ]
  }

  function resolved(promised: Document): Document {
    return promised.$ref ? at(promised.$ref.split('/').slice(1)) : promised
  }

  /** Some headers come with one reason only. Their description begins with it. */
  function appliesTo(promised: Document, reason: string | undefined): boolean {
    const [, only] = /^With `(\w+)`/.exec(resolved(promised).description) ?? []
    return only === undefined || only === reason
  }

  /** Limits are on wherever responses come from, so that all documented headers are there. */
  function isAsPromised(promised: Document, value: IncomingHttpHeaders[string]): boolean {
    const { schema } = resolved(promised)
    if (schema.const !== undefined) return value === schema.const
    return schema.type === 'integer' ? Number(value) >= schema.minimum : Boolean(value)
  }

  function bodyProblems(place: string[], promised: Document, { status, headers, body }: Answer): string[] {
    const type = headers['content-type']?.split(';')[0] ?? ''
    if (promised.content === undefined) return status === 101 ? [] : ['has no documented content']
    if (promised.content[type] === undefined) return [`${type} is not documented`]
    return read.problems([...place, 'content', type, 'schema'], body)
  }

  return {
    at,
    problems: read.problems,
    /** The differences of a response from the document. */
    problemsOf(exchange: Answer): string[] {
      const place = placeOf(exchange)
      const promised = at(place)
      if (promised === undefined) return ['is not documented']
      return [...headerProblems(promised.headers ?? {}, exchange), ...bodyProblems(place, promised, exchange)]
    },
    /** All promised responses, by their names. */
    answers(): string[] {
      return operationsOf(openApi).flatMap(({ of, operation }) =>
        Object.entries<Document>(operation.responses).flatMap(([status, { content = {} }]) => {
          const { code } = content['application/json']?.schema.properties ?? {}
          const reasons: (string | undefined)[] = code?.enum ?? [undefined]
          return reasons.map((reason) => answerName({ of, status, reason }))
        }),
      )
    },
  }
}

/** The name of a response: its operation, status and reason. */
export function answerName(answer: {
  of: string
  status: number | string
  reason?: string | undefined
}): string {
  return [answer.of, answer.status, answer.reason].filter((part) => part !== undefined).join(' ')
}
