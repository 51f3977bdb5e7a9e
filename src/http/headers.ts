import { cors as connectCors } from '@connectrpc/connect'

const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

/** What browsers may read of an answer, beside what they always may. */
export const EXPOSED_HEADERS = [
  ...connectCors.exposedHeaders,
  'X-Request-Id',
  'Retry-After',
  ...RATE_LIMIT_HEADERS,
].join(', ')

/**
 * What browsers of these origins may send, on REST, server-sent events, Connect and gRPC-Web.
 * @param origins `*`, or each origin by itself
 */
export function corsHeaders(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: 'GET, POST, DELETE',
    allowedHeaders: [...connectCors.allowedHeaders, 'Last-Event-ID'].join(', '),
    exposedHeaders: [
      ...connectCors.exposedHeaders,
      'X-Request-Id',
      'Retry-After',
      ...RATE_LIMIT_HEADERS,
    ].join(', '),
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
