import { cors as connectCors } from '@connectrpc/connect'

const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

const EXPOSED_HEADERS = [
  ...connectCors.exposedHeaders,
  'X-Request-Id',
  'Retry-After',
  ...RATE_LIMIT_HEADERS,
].join(', ')

/**
 * What answers tell browsers of these origins (Fetch, section 3.3); nothing to who is none.
 * @param origins `*`, or each origin by itself
 */
export function answersToOrigins(
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
 * What browsers of these origins may send, on REST, server-sent events, Connect and gRPC-Web. For preflights: the
 * answers that follow have their headers without the plugin, which takes its time with each.
 * @param origins `*`, or each origin by itself
 */
export function preflightHeaders(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: 'GET, POST, DELETE',
    allowedHeaders: [...connectCors.allowedHeaders, 'Last-Event-ID'].join(', '),
    maxAge: 7200,
    strictPreflight: false,
  }
}

/**
 * Answers are data for any origin that CORS lets in; nothing here is a page that loads anything. Strict transport is
 * for whoever terminates TLS to ask for.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const
