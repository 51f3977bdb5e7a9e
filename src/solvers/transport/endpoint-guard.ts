import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import {
  coalesceLookups,
  createAllowlist,
  createDnsResolver,
  isPublicAddress,
  type ResolveAll,
  resolveByOperatingSystem,
} from './endpoint-addresses.js'

interface EndpointGuardOptions {
  /** Whether the rules of production apply. */
  readonly production: boolean
  readonly allowlist: readonly string[]
  /** Replaces all resolvers. */
  readonly resolveAll?: ResolveAll
  /** Replaces the machine's name servers: `ip:port` each. */
  readonly nameServers?: readonly string[]
}

/** Prevents connections to internal addresses (server-side request forgery, SSRF: docs/decisions.md, D10). */
export type EndpointGuard = ReturnType<typeof createEndpointGuard>

/** Lower ports belong to services that are not solvers, except the port of https. */
const FIRST_FREE_PORT = 1024
const HTTPS_PORT = 443

/**
 * Builds the guard. Outside production it allows everything. In production, it resolves names that are not in the
 * allowlist over DNS, so that no slow name server blocks a thread. The operating system resolves all other names.
 */
export function createEndpointGuard(options: EndpointGuardOptions) {
  const { production } = options
  const allowlist = createAllowlist(options.allowlist)
  const resolveByDns = createDnsResolver(options.nameServers)
  const resolveAll = coalesceLookups(
    options.resolveAll ?? ((host) => (isTrusted(host) ? resolveByOperatingSystem(host) : resolveByDns(host))),
  )

  function isTrusted(host: string): boolean {
    return !production || allowlist.hasHost(host)
  }

  function isExempt(host: string, address: string): boolean {
    return isTrusted(host) || allowlist.hasAddress(address)
  }

  function check(protocol: string, host: string, address: string): void {
    if (isExempt(host, address)) return
    if (protocol !== 'https:' || !isPublicAddress(address)) throw locationError(protocol)
  }

  async function resolveChecked(protocol: string, host: string): Promise<LookupAddress[]> {
    const addresses = await resolveAll(host).catch((error) => {
      throw isTrusted(host) ? error : locationError(protocol, error)
    })
    if (addresses.length === 0 && !isTrusted(host)) throw locationError(protocol)
    for (const { address } of addresses) check(protocol, host, address)
    return addresses
  }

  /** The checked addresses of a host, at least one. */
  async function addressesOf(protocol: string, host: string): Promise<readonly string[]> {
    if (isIP(host)) {
      check(protocol, host, host)
      return [host]
    }
    const addresses = await resolveChecked(protocol, host).catch((error) => {
      if (error instanceof ServiceError) throw error
      throw locationError(protocol, error)
    })
    if (addresses.length === 0) throw locationError(protocol)
    return addresses.map(({ address }) => address)
  }

  function assertDiallable(protocol: string, urlHost: string): void {
    const host = withoutBrackets(urlHost)
    if (isIP(host)) check(protocol, host, host)
  }

  return {
    /** Whether the host of an endpoint is a name that `assertAllowed` resolves. */
    needsLookup: (endpointUrl: string): boolean =>
      production && !isIP(withoutBrackets(new URL(endpointUrl).hostname)),
    /**
     * Checks an endpoint before a solver is registered with it: its port, and all addresses of its name.
     * @throws ServiceError ENDPOINT_REJECTED
     */
    async assertAllowed(endpointUrl: string): Promise<void> {
      if (!production) return
      const { protocol, hostname, port } = new URL(endpointUrl)
      const host = withoutBrackets(hostname)
      const addresses = await addressesOf(protocol, host)
      const isOwn = addresses.every((address) => isExempt(host, address))
      if (!isOwn && !isAllowedPort(port))
        throw rejected('The endpoint must be at port 443, or at a port of 1024 to 65535.')
    },
    /**
     * Checks a connection to an IP address before it is opened. For names, the lookup does this.
     * @param protocol in the form of a URL, `https:`
     * @throws ServiceError ENDPOINT_REJECTED
     */
    assertDiallable,
    /**
     * Builds a lookup for sockets that returns checked addresses only, so that the socket connects to a checked address.
     * @param protocol the protocol of the socket
     */
    lookupFor:
      (protocol: string): LookupFunction =>
      (host, lookupOptions, callback) => {
        resolveChecked(protocol, host).then(
          (addresses) => respond(addresses, lookupOptions.all === true, callback),
          (error) => callback(error, ''),
        )
      },
  }
}

function respond(addresses: LookupAddress[], all: boolean, callback: Parameters<LookupFunction>[2]): void {
  const [first] = addresses
  if (first === undefined) callback(new Error('no address'), '')
  else if (all) callback(null, addresses)
  else callback(null, first.address, first.family)
}

/** @param port in the form of a URL: empty for the protocol's default */
function isAllowedPort(port: string): boolean {
  return port === '' || Number(port) === HTTPS_PORT || Number(port) >= FIRST_FREE_PORT
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host
}

/**
 * Builds the error for an endpoint's location. It is the same for a name that does not resolve and for one at a private
 * address, so that callers learn no names of the operator's network.
 */
function locationError(protocol: string, cause?: unknown): ServiceError {
  if (protocol !== 'https:') return rejected('The endpoint must be an https URL.', cause)
  return rejected(
    'The endpoint must be at a public IP address, or at a name that resolves to such addresses only.',
    cause,
  )
}

function rejected(message: string, cause?: unknown): ServiceError {
  return new ServiceError('ENDPOINT_REJECTED', message, { cause })
}
