import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AN_ORIGIN, parseOrigin } from '../domain/values/urls.js'
import type { EnvironmentReader } from './environment.js'

/** Reads the origins whose pages may call the service. */
export function readCorsOrigins(env: EnvironmentReader): readonly string[] {
  return env.checkedList('CORS_ORIGINS', isOrigin, '* or origins such as https://app.example.org')
}

/** Reads the origins by which clients reach the instance, in the normal form of the WHATWG URL standard. */
export function readPublicUrls(env: EnvironmentReader): readonly string[] {
  const urls = env.checkedList('PUBLIC_URLS', (text) => parseOrigin(text) !== undefined, AN_ORIGIN)
  return [...new Set(urls.flatMap((text) => parseOrigin(text) ?? []))]
}

/** Reads which proxies are trusted: a number of hops, or addresses and CIDRs. */
export function readTrustProxy(env: EnvironmentReader): number | readonly string[] {
  const text = env.optional('TRUST_PROXY') ?? '0'
  if (/^[0-9]{1,2}$/.test(text)) return Number(text)
  return env.checkedList(
    'TRUST_PROXY',
    isAddressOrCidr,
    'a number of hops, or addresses and CIDRs of proxies',
  )
}

/** Reads the `user:password` of `/metrics`; undefined leaves it open. */
export function readMetricsAuth(env: EnvironmentReader): string | undefined {
  const text = env.optional('METRICS_AUTH')
  if (text !== undefined && !/^[^:]+:.+$/.test(text)) env.refuse('METRICS_AUTH', 'must be user:password')
  return text
}

/** Reads which solver endpoints are exempt from the rules of production. */
export function readEndpointAllowlist(env: EnvironmentReader): readonly string[] {
  return env.checkedList(
    'SOLVER_ENDPOINT_ALLOWLIST',
    (item) => isAddressOrCidr(item) || isHostName(item),
    'a host name, an IP address or a CIDR',
  )
}

function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text)
}

/** ipaddr.js alone accepts `100` as an address, and so a number of hops that is too large. */
function isAddressOrCidr(text: string): boolean {
  const [address = ''] = text.split('/')
  return isIP(address) !== 0 && (ipaddr.isValid(text) || ipaddr.isValidCIDR(text))
}

function isHostName(text: string): boolean {
  return /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(text)
}
