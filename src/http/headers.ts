import { cors as connectCors } from '@connectrpc/connect'

const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

/**
 * What browsers of these origins may send and read, on REST, server-sent events, Connect and gRPC-Web.
 * @param origins `*`, or each origin by itself
 */
export function corsHeaders(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST', 'DELETE'],
    allowedHeaders: [...connectCors.allowedHeaders, 'Last-Event-ID'],
    exposedHeaders: [...connectCors.exposedHeaders, 'X-Request-Id', 'Retry-After', ...RATE_LIMIT_HEADERS],
    maxAge: 7200,
    strictPreflight: false,
  }
}

/**
 * Answers are data for any origin that CORS lets in; nothing here is a page that loads anything. Strict transport is
 * for whoever terminates TLS to ask for.
 */
export const SECURITY_HEADERS = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
} as const
