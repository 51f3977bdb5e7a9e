import { cors as connectCors } from '@connectrpc/connect'

const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

const EXPOSED_HEADERS = [
  ...connectCors.exposedHeaders,
  'X-Request-Id',
  'Retry-After',
  ...RATE_LIMIT_HEADERS,
].join(', ')

/**
 * Builds the CORS headers of responses (Fetch, section 3.3). Browsers of other origins get none.
 * @param origins `*`, or each origin by itself
 */
export function createCorsHeaders(
  origins: readonly string[],
): (origin: string | undefined) => Readonly<Record<string, string>> {
  const isOpen = origins.includes('*')
  const others: Readonly<Record<string, string>> = isOpen ? {} : { vary: 'Origin' }
  const toAllowed = (origin: string) => ({
    ...others,
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
  })
  const allowed = new Map((isOpen ? ['*'] : origins).map((origin) => [origin, toAllowed(origin)]))
  return (origin) => (origin && allowed.get(isOpen ? '*' : origin)) || others
}

/**
 * Builds the options of preflights: what browsers of these origins may send on REST, server-sent events, Connect and
 * gRPC-Web. The later responses get their headers without the plugin, because it takes time for each.
 * @param origins `*`, or each origin by itself
 */
export function preflightHeaders(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: 'GET, POST, DELETE',
    allowedHeaders: [...connectCors.allowedHeaders, 'Last-Event-ID', 'Traceparent'].join(', '),
    maxAge: 7200,
    strictPreflight: false,
  }
}

/**
 * Responses are data for any origin that CORS admits. None of them is a page that loads anything, except `/docs`
 * and the console.
 * Strict-Transport-Security belongs to the proxy that terminates TLS.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const
