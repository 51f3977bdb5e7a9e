import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { ServiceError } from '../domain/errors.js'
import { createAllowlist, isPublicAddress } from './address-rules.js'

/** Looks all addresses of a host name up, in the resolver's order. */
export type ResolveAll = (host: string) => Promise<LookupAddress[]>

interface EndpointGuardOptions {
  /** Whether the rules of production hold. */
  readonly production: boolean
  readonly allowlist: readonly string[]
  readonly resolveAll?: ResolveAll
}

/** Keeps the service from calling what it must not (server-side request forgery, decisions.md D10). */
export interface EndpointGuard {
  /**
   * Judges an endpoint before a solver is registered with it.
   * @throws ServiceError ENDPOINT_REJECTED
   */
  assertAllowed(endpointUrl: string): Promise<void>
  /**
   * Judges a connection that is about to be made, by what needs no look-up.
   * @param protocol as a URL has it, `https:`
   * @throws ServiceError ENDPOINT_REJECTED
   */
  assertDiallable(protocol: string, host: string): void
  /** A look-up for sockets that gives judged addresses only, so that what was checked is what is dialled. */
  readonly lookup: LookupFunction
}

/** Builds the guard; outside production it lets everything through. */
export function createEndpointGuard(options: EndpointGuardOptions): EndpointGuard {
  const { production, resolveAll = resolveByOperatingSystem } = options
  const allowlist = createAllowlist(options.allowlist)

  function judgeAddress(host: string, address: string): void {
    if (!production || allowlist.hasHost(host) || allowlist.hasAddress(address)) return
    if (!isPublicAddress(address)) throw rejected('The endpoint must be at a public IP address.')
  }

  async function resolveJudged(host: string): Promise<LookupAddress[]> {
    const addresses = await resolveAll(host)
    for (const { address } of addresses) judgeAddress(host, address)
    return addresses
  }

  function assertDiallable(protocol: string, urlHost: string): void {
    const host = withoutBrackets(urlHost)
    if (isIP(host)) judgeAddress(host, host)
    if (protocol === 'https:' || !production || allowlist.hasHost(host)) return
    throw rejected('The endpoint must be an https URL.')
  }

  return {
    async assertAllowed(endpointUrl) {
      const { protocol, hostname } = new URL(endpointUrl)
      assertDiallable(protocol, hostname)
      if (!production || isIP(withoutBrackets(hostname))) return
      const addresses = await resolveJudged(hostname).catch((error) => {
        if (error instanceof ServiceError) throw error
        throw rejected('The host name of the endpoint does not resolve.', error)
      })
      if (addresses.length === 0) throw rejected('The host name of the endpoint has no address.')
    },
    assertDiallable,
    lookup(host, lookupOptions, callback) {
      resolveJudged(host).then(
        (addresses) => answer(addresses, lookupOptions.all === true, callback),
        (error) => callback(error, ''),
      )
    },
  }
}

function resolveByOperatingSystem(host: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)))
  })
}

function answer(addresses: LookupAddress[], all: boolean, callback: Parameters<LookupFunction>[2]): void {
  const [first] = addresses
  if (first === undefined) callback(new Error('no address'), '')
  else if (all) callback(null, addresses)
  else callback(null, first.address, first.family)
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host
}

function rejected(message: string, cause?: unknown): ServiceError {
  return new ServiceError('ENDPOINT_REJECTED', message, { cause })
}
