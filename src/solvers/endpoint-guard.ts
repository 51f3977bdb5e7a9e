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
   * Judges an endpoint before a solver is registered with it: all addresses of its name.
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

/** Builds the guard; outside production it lets everything through. */
export function createEndpointGuard(options: EndpointGuardOptions): EndpointGuard {
  const { production, resolveAll = resolveByOperatingSystem } = options
  const allowlist = createAllowlist(options.allowlist)

  function judge(protocol: string, host: string, address: string): void {
    if (!production || allowlist.hasHost(host) || allowlist.hasAddress(address)) return
    if (protocol !== 'https:') throw rejected('The endpoint must be an https URL.')
    if (!isPublicAddress(address)) throw rejected('The endpoint must be at a public IP address.')
  }

  async function resolveJudged(protocol: string, host: string): Promise<LookupAddress[]> {
    const addresses = await resolveAll(host)
    for (const { address } of addresses) judge(protocol, host, address)
    return addresses
  }

  function assertDiallable(protocol: string, urlHost: string): void {
    const host = withoutBrackets(urlHost)
    if (isIP(host)) judge(protocol, host, host)
  }

  return {
    async assertAllowed(endpointUrl) {
      const { protocol, hostname } = new URL(endpointUrl)
      if (!production) return
      if (isIP(withoutBrackets(hostname))) return assertDiallable(protocol, hostname)
      const addresses = await resolveJudged(protocol, hostname).catch((error) => {
        if (error instanceof ServiceError) throw error
        throw rejected('The host name of the endpoint does not resolve.')
      })
      if (addresses.length === 0) throw rejected('The host name of the endpoint has no address.')
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

function rejected(message: string): ServiceError {
  return new ServiceError('ENDPOINT_REJECTED', message)
}
