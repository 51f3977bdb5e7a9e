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

/** Host names and networks that an operator exempts from the rules. */
export interface Allowlist {
  /** @param host a host name or an address, in the form of a URL */
  hasHost(host: string): boolean
  hasAddress(address: string): boolean
}

/**
 * Reads an allowlist.
 * @param items host names, addresses and CIDRs; a host name matches itself only, not its subdomains
 */
export function createAllowlist(items: readonly string[]): Allowlist {
  const networks = items.filter((item) => ipaddr.isValid(item) || ipaddr.isValidCIDR(item)).map(parseNetwork)
  const hosts = new Set(items.map((item) => item.toLowerCase()))

  const hasAddress = (text: string) => {
    if (!ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    return networks.some(
      ([network, bits]) => address.kind() === network.kind() && address.match(network, bits),
    )
  }
  return { hasAddress, hasHost: (host) => hosts.has(host.toLowerCase()) || hasAddress(host) }
}

function parseNetwork(item: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (ipaddr.isValidCIDR(item)) return ipaddr.parseCIDR(item)
  const address = ipaddr.process(item)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
