import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { MAX_PORT } from '../../packages/protocol/src/field-rules.js'
import { AN_ORIGIN, parseOrigin } from '../../packages/protocol/src/values/origin.js'
import type { DatabaseLocation } from './database-url.js'
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

/** How the other replicas of an instance ask this one. */
interface ReplicaAccess {
  /** The origin by which they reach it. Its port is replaced when a free one is taken. */
  readonly url: string
  /** The port that it listens on; 0 takes a free one. */
  readonly port: number
}

/** Reads how the other replicas ask this one; undefined when they cannot. */
export function readReplicaAccess(
  env: EnvironmentReader,
  { databaseUrl }: DatabaseLocation,
): ReplicaAccess | undefined {
  const text = env.optional('REPLICA_URL')
  const port = env.optionalInteger('REPLICA_PORT', { min: 0, max: MAX_PORT })
  if (text === undefined && port === undefined) return undefined
  const url = text === undefined ? undefined : parseOrigin(text)
  if (text === undefined)
    env.refuse('REPLICA_URL', `is missing, and REPLICA_PORT is set: it must be ${AN_ORIGIN}`)
  else if (url === undefined) env.refuse('REPLICA_URL', `is "${text}": it must be ${AN_ORIGIN}`)
  if (port === undefined)
    env.refuse(
      'REPLICA_PORT',
      'is missing, and REPLICA_URL is set: it must be a port of its own, or 0 for a free one',
    )
  else if (port !== 0 && String(port) === env.optional('PORT'))
    env.refuse('REPLICA_PORT', `is ${port}, as PORT is: it must be a port of its own, or 0 for a free one`)
  if (databaseUrl === undefined)
    env.refuse('REPLICA_URL', 'is for replicas, which share a PostgreSQL: set DATABASE_URL too')
  return url === undefined || port === undefined ? undefined : { url, port }
}
