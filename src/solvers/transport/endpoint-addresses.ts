import { type LookupAddress, lookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Public addresses that only cloud instances can reach: Azure's host agent. Those of other clouds are in private ranges. */
const CLOUD_METADATA = ['168.63.129.16']
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR('2000::/3')

/**
 * Whether an IP address is public unicast, so that the service may connect to it for any solver (docs/decisions.md, D10).
 * IPv6 forms that embed an IPv4 address (mapped, translated, 6to4, Teredo) are not public.
 * @param text an IPv4 or IPv6 address; anything else is not public, also an address with a zone
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (CLOUD_METADATA.includes(address.toString())) return false
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST_V6)
}

/**
 * Host names and networks that an operator exempts from the rules. Reads an allowlist.
 * @param items host names, addresses and CIDRs; a host name matches itself only, not its subdomains
 */
export function createAllowlist(items: readonly string[]) {
  const networks = items.filter((item) => ipaddr.isValid(item) || ipaddr.isValidCIDR(item)).map(parseNetwork)
  const hosts = new Set(items.map((item) => item.toLowerCase()))

  const hasAddress = (text: string) => {
    if (!ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    return networks.some(
      ([network, bits]) => address.kind() === network.kind() && address.match(network, bits),
    )
  }
  return {
    hasAddress,
    /** @param host a host name or an address, in the form of a URL */
    hasHost: (host: string): boolean => hosts.has(host.toLowerCase()) || hasAddress(host),
  }
}

function parseNetwork(item: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (ipaddr.isValidCIDR(item)) return ipaddr.parseCIDR(item)
  const address = ipaddr.process(item)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** Returns all addresses of a host name, in the resolver's order. */
export type ResolveAll = (host: string) => Promise<LookupAddress[]>

const TRY_TIMEOUT_MS = 1000
const TRIES = 2
/** The timeout of a whole lookup, for any number of name servers. */
const LOOKUP_TIMEOUT_MS = 3000

/**
 * Asks the operating system, which also reads `/etc/hosts`. A lookup blocks one of the process's few threads until it
 * ends, so use it only for names that the operator trusts.
 */
export const resolveByOperatingSystem: ResolveAll = (host) =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)))
  })

/**
 * Builds a resolver that asks the name servers over sockets, so that a name server that never answers blocks no thread.
 * Each lookup has its own channel, so that it changes neither the result nor the duration of the next one.
 * @param nameServers `ip:port` each; the machine's own when undefined
 * @returns addresses of both families, IPv4 first; it fails within 3 s when there are none
 */
export function createDnsResolver(nameServers?: readonly string[]): ResolveAll {
  return async (host) => {
    const resolver = new Resolver({ timeout: TRY_TIMEOUT_MS, tries: TRIES })
    if (nameServers !== undefined) resolver.setServers(nameServers)
    const timer = setTimeout(() => resolver.cancel(), LOOKUP_TIMEOUT_MS)
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    clearTimeout(timer)
    const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)]
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason
    return found
  }
}

/** Shares one lookup between all concurrent callers for a host. It keeps no result after the lookup. */
export function coalesceLookups(resolveAll: ResolveAll): ResolveAll {
  const underWay = new Map<string, Promise<LookupAddress[]>>()
  return (host) => {
    const known = underWay.get(host)
    if (known !== undefined) return known
    const lookup = resolveAll(host).finally(() => underWay.delete(host))
    underWay.set(host, lookup)
    return lookup
  }
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
}
