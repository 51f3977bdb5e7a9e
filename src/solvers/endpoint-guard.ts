import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { ServiceError } from '../domain/errors.js'
import { createAllowlist, isPublicAddress } from './address-rules.js'
import {
  coalesceLookups,
  createDnsResolver,
  type ResolveAll,
  resolveByOperatingSystem,
} from './name-resolution.js'

interface EndpointGuardOptions {
  /** Whether the rules of production hold. */
  readonly production: boolean
  readonly allowlist: readonly string[]
  /** Takes the place of all resolvers. */
  readonly resolveAll?: ResolveAll
  /** Takes the place of the machine's name servers: `ip:port` each. */
  readonly nameServers?: readonly string[]
}

/** Keeps the service from calling what it must not (server-side request forgery, docs/decisions.md, D10). */
export interface EndpointGuard {
  /** Whether the host of an endpoint is a name that `assertAllowed` looks up. */
  needsLookup(endpointUrl: string): boolean
  /**
   * Judges an endpoint before a solver is registered with it: its port, and all addresses of its name.
   * @throws ServiceError ENDPOINT_REJECTED
   */
  assertAllowed(endpointUrl: string): Promise<void>
  /**
   * Judges a connection that is about to be made to an IP address; names are judged by their look-up.
   * @param protocol as a URL has it, `https:`
   * @throws ServiceError ENDPOINT_REJECTED
   */
  assertDiallable(protocol: string, host: string): void
  /**
   * A look-up for sockets that gives judged addresses only, so that what was checked is what is dialled.
   * @param protocol what will be spoken over the socket
   */
  lookupFor(protocol: string): LookupFunction
}

/** Below it are ports of services that no solver runs; the port of https is the exception. */
const FIRST_FREE_PORT = 1024
const HTTPS_PORT = 443

/**
 * Builds the guard; outside production it lets everything through. In production, name servers are asked for a name that
 * is not in the allowlist: nobody's name server holds a thread. All other names are for the operating system.
 */
export function createEndpointGuard(options: EndpointGuardOptions): EndpointGuard {
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

  function judge(protocol: string, host: string, address: string): void {
    if (isExempt(host, address)) return
    if (protocol !== 'https:' || !isPublicAddress(address)) throw refusalOf(protocol)
  }

  async function resolveJudged(protocol: string, host: string): Promise<LookupAddress[]> {
    const addresses = await resolveAll(host).catch((error) => {
      throw isTrusted(host) ? error : refusalOf(protocol, error)
    })
    if (addresses.length === 0 && !isTrusted(host)) throw refusalOf(protocol)
    for (const { address } of addresses) judge(protocol, host, address)
    return addresses
  }

  /** The judged addresses of a host; it has at least one. */
  async function addressesOf(protocol: string, host: string): Promise<readonly string[]> {
    if (isIP(host)) {
      judge(protocol, host, host)
      return [host]
    }
    const addresses = await resolveJudged(protocol, host).catch((error) => {
      if (error instanceof ServiceError) throw error
      throw refusalOf(protocol, error)
    })
    if (addresses.length === 0) throw refusalOf(protocol)
    return addresses.map(({ address }) => address)
  }

  function assertDiallable(protocol: string, urlHost: string): void {
    const host = withoutBrackets(urlHost)
    if (isIP(host)) judge(protocol, host, host)
  }

  return {
    needsLookup: (endpointUrl) => production && !isIP(withoutBrackets(new URL(endpointUrl).hostname)),
    async assertAllowed(endpointUrl) {
      if (!production) return
      const { protocol, hostname, port } = new URL(endpointUrl)
      const host = withoutBrackets(hostname)
      const addresses = await addressesOf(protocol, host)
      const isOwn = addresses.every((address) => isExempt(host, address))
      if (!isOwn && !isAllowedPort(port))
        throw rejected('The endpoint must be at port 443, or at a port of 1024 to 65535.')
    },
    assertDiallable,
    lookupFor: (protocol) => (host, lookupOptions, callback) => {
      resolveJudged(protocol, host).then(
        (addresses) => answer(addresses, lookupOptions.all === true, callback),
        (error) => callback(error, ''),
      )
    },
  }
}

function answer(addresses: LookupAddress[], all: boolean, callback: Parameters<LookupFunction>[2]): void {
  const [first] = addresses
  if (first === undefined) callback(new Error('no address'), '')
  else if (all) callback(null, addresses)
  else callback(null, first.address, first.family)
}

/** @param port as a URL has it: empty for the protocol's own */
function isAllowedPort(port: string): boolean {
  return port === '' || Number(port) === HTTPS_PORT || Number(port) >= FIRST_FREE_PORT
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host
}

/**
 * The refusal of an endpoint for where it is. A name that does not resolve gets the same words as one at a private
 * address: callers learn no names of the operator's network.
 */
function refusalOf(protocol: string, cause?: unknown): ServiceError {
  if (protocol !== 'https:') return rejected('The endpoint must be an https URL.', cause)
  return rejected(
    'The endpoint must be at a public IP address, or at a name that resolves to such addresses only.',
    cause,
  )
}

function rejected(message: string, cause?: unknown): ServiceError {
  return new ServiceError('ENDPOINT_REJECTED', message, { cause })
}
