import { BlockList, isIPv4, isIPv6 } from 'node:net'
import fc from 'fast-check'

/** IANA's special-purpose registry for IPv4, with multicast and a cloud's metadata service. */
const SPECIAL_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24'],
  ...['192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '255.255.255.255/32', '168.63.129.16/32'],
]
/** IANA's special-purpose registry for IPv6, with multicast, site-local and IPv4-compatible addresses. */
const SPECIAL_V6 = [
  ...['::/96', '::1/128', '::/128', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'],
  ...['100::/64', '100:0:0:1::/64', '2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48'],
  ...['3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]

/** One list for each family: in a shared one, rules for IPv4-mapped addresses would cover all of IPv4. */
function blockList(cidrs: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return list
}
const special4 = blockList(SPECIAL_V4, 'ipv4')
const special6 = blockList(SPECIAL_V6, 'ipv6')
/** The IPv6 space that IANA has allocated as global unicast. */
const given6 = blockList(['2000::/3'], 'ipv6')

/** Whether an address is public by the lists above. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !special4.check(address, 'ipv4')
  return isIPv6(address) && given6.check(address, 'ipv6') && !special6.check(address, 'ipv6')
}

/** An IPv4 address in its usual notation. */
export const dotted = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.')
const toNumber = (text: string) => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const groupsOf = (value: bigint) =>
  Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - index * 16)) & 0xffffn))
const toGroups = (text: string): number[] => {
  const [head = '', tail] = text.split('::')
  const read = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const [before, after] = [read(head), read(tail ?? '')]
  return [...before, ...Array(8 - before.length - after.length).fill(0), ...after]
}
const toBigInt = (groups: readonly number[]) =>
  groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n)
/** An IPv6 address in eight groups. */
export const hexGroups = (value: bigint) =>
  groupsOf(value)
    .map((group) => group.toString(16))
    .join(':')

/** Addresses in a network, its ends more often than others; with `neighbours` also those next to it. */
function within(first: bigint, size: bigint, neighbours: boolean) {
  const last = first + size - 1n
  const outside = neighbours ? [first - 1n, last + 1n].filter((value) => value > 0n) : []
  return fc.oneof(fc.constantFrom(first, last, ...outside), fc.bigInt({ min: first, max: last }))
}
/** IPv4 addresses of the special networks, as numbers. */
export const in4 = (neighbours = false) =>
  fc.constantFrom(...SPECIAL_V4).chain((cidr) => {
    const [network = '', bits] = cidr.split('/')
    const values = within(BigInt(toNumber(network)), 1n << BigInt(32 - Number(bits)), neighbours)
    return values.filter((value) => value < 1n << 32n).map(Number)
  })
/** IPv6 addresses of the special networks, as numbers. */
export const in6 = (neighbours = false) =>
  fc.constantFrom(...SPECIAL_V6).chain((cidr) => {
    const [network = '', bits] = cidr.split('/')
    const values = within(toBigInt(toGroups(network)), 1n << BigInt(128 - Number(bits)), neighbours)
    return values.filter((value) => value < 1n << 128n)
  })
/** Any IPv4 address, and the public addresses of both families, as numbers. */
export const any4 = fc.integer({ min: 0, max: 0xffff_ffff })
export const public4 = any4.filter((value) => isPublic(dotted(value)))
export const public6 = fc
  .bigInt({ min: 0x2000n << 112n, max: (0x4000n << 112n) - 1n })
  .filter((value) => isPublic(hexGroups(value)))

/** An IPv4 address in any notation of URLs: one to four numbers in any base, a final dot, unusual characters. */
export function spelled4(value: number): fc.Arbitrary<string> {
  const bases: ((part: number) => string)[] = [
    (part) => String(part),
    (part) => `0${part.toString(8)}`,
    (part) => `000${part.toString(8)}`,
    (part) => `0x${part.toString(16)}`,
    (part) => `0X00${part.toString(16).toUpperCase()}`,
  ]
  const decorations: ((text: string) => string)[] = [
    (text) => text,
    (text) => `${text}.`,
    (text) => text.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    (text) => text.replace(/\d/, (digit) => `%3${digit}`),
    (text) => text.replaceAll('.', '。'),
    (text) => text.replace('.', '\u00ad.'),
  ]
  return fc
    .tuple(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom(...bases), { minLength: 4, maxLength: 4 }),
    )
    .chain(([count, spell]) => {
      const parts = dotted(value).split('.').map(Number)
      const last = parts.slice(count - 1).reduce((sum, part) => sum * 256 + part, 0)
      const text = [...parts.slice(0, count - 1), last].map((part, index) => spell[index]?.(part)).join('.')
      return fc.constantFrom(...decorations).map((decorate) => decorate(text))
    })
}

/** An IPv6 address in brackets, in any compression and letter case, with or without dots at its end. */
export function spelled6(value: bigint): fc.Arbitrary<string> {
  const groups = groupsOf(value)
  return fc
    .record({ pad: fc.boolean(), upper: fc.boolean(), dots: fc.boolean(), from: fc.nat(7), to: fc.nat(8) })
    .map(({ pad, upper, dots, from, to }) => {
      const texts = groups.map((group) => group.toString(16).padStart(pad ? 4 : 1, '0'))
      const length = dots ? 6 : 8
      const units = texts.slice(0, length)
      if (dots) units.push(dotted(((groups[6] ?? 0) * 0x10000 + (groups[7] ?? 0)) >>> 0))
      const end = Math.min(to, length)
      const canCompress = end > from && groups.slice(from, end).every((group) => group === 0)
      const text = canCompress
        ? `${units.slice(0, from).join(':')}::${units.slice(end).join(':')}`
        : units.join(':')
      return `[${upper ? text.toUpperCase() : text}]`
    })
}

/** The IPv6 forms of an IPv4 address: mapped, translated, NAT64, compatible, 6to4. */
export const embedded4 = (value: number) => {
  const low = BigInt(value)
  const forms = [0xffffn << 32n, 0xffffn << 48n, 0x64ff9bn << 96n, 0n].map((prefix) => prefix | low)
  return fc.constantFrom(...forms, (0x2002n << 112n) | (low << 80n))
}
