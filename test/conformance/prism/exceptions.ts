import type { Exchange } from './exchange.js'

/** Why Prism cannot judge an exchange; undefined if it can. */
export function unreadable({ method, url, requestBody, status }: Exchange): string | undefined {
  if (!/^\/(?!\/)/.test(url) || /%(?![0-9a-f]{2})|\/\.\.\//i.test(url))
    return 'Prism ends with, or changes, a target that is no plain path.'
  if (status >= 300 && status < 400) return 'Prism follows a redirection itself.'
  if (method === 'HEAD') return 'Prism answers HEAD itself.'
  if (method === 'GET' && requestBody !== '') return 'Prism does not pass on a GET with a body.'
  return undefined
}

/** Violations that are none: the exchange with one violation, and why. */
const EXPECTED: readonly { readonly failure: RegExp; readonly reason: string }[] = [
  {
    failure: /: request\.body\.\w+: Request body property \w+ must be integer$/,
    reason: 'Requests may have integers as decimal strings too (docs/api.md).',
  },
  {
    failure:
      /^[^:]+(: |; )(request\.body: Request body must NOT have additional properties; found '\w+'(; )?)+$/,
    reason: 'Unknown fields of a body are ignored (docs/api.md).',
  },
  {
    failure: /\(426\): response\.header: Response header must have required property 'upgrade'$/,
    reason: 'Prism removes headers of a connection before it judges.',
  },
  {
    failure: /^GET \/metrics.*: request: Invalid security scheme used$/,
    reason: 'Prism splits user and password at each colon; RFC 7617 splits at the first.',
  },
  {
    failure: /^GET \/v1\/\d+\/quote\/stream \(405\): response: Unable to match the returned status code/,
    reason: 'Prism takes a GET of quote/stream for the record of a quote.',
  },
  {
    failure: /^GET \/health \(400\): response: Unable to match the returned status code/,
    reason: 'The document does not repeat that an invalid Host is 400 at each path (RFC 9112).',
  },
]

/** Why a failure is none; undefined if it is one. */
export function excuseOf(failure: string): string | undefined {
  return EXPECTED.find((expected) => expected.failure.test(failure))?.reason
}
