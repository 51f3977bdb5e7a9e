import { describe, expect, test } from 'vitest'
import { createAllowlist, isPublicAddress } from '../../../src/solvers/transport/endpoint-addresses.js'

describe('an address that is not public:', () => {
  test.each([
    ['unspecified', ['0.0.0.0', '0.0.0.1', '0.255.255.255']],
    [
      'private',
      ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
    ],
    ['loopback', ['127.0.0.1', '127.0.0.0', '127.255.255.255']],
    ['link-local', ['169.254.0.1', '169.254.255.255']],
    ['carrier-grade NAT', ['100.64.0.0', '100.127.255.255']],
    ['IETF assignments', ['192.0.0.1', '192.0.0.170']],
    ['documentation', ['192.0.2.1', '198.51.100.7', '203.0.113.255']],
    ['benchmarking', ['198.18.0.0', '198.19.255.255']],
    ['6to4 relay', ['192.88.99.1']],
    ['AS112 and AMT', ['192.31.196.1', '192.52.193.1', '192.175.48.1', '2620:4f:8000::1']],
    ['multicast', ['224.0.0.1', '239.255.255.255']],
    ['reserved', ['240.0.0.1', '255.255.255.254']],
    ['broadcast', ['255.255.255.255']],
    ['cloud metadata', ['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254']],
    ['unspecified IPv6', ['::', '0:0:0:0:0:0:0:0']],
    ['loopback IPv6', ['::1', '0:0:0:0:0:0:0:1']],
    ['IPv4-compatible', ['::127.0.0.1', '::8.8.8.8']],
    ['IPv4-mapped', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:8.8.8.8']],
    ['IPv4-translated', ['::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1']],
    ['6to4', ['2002::', '2002:7f00:1::', '2002:808:808::1']],
    ['Teredo', ['2001::', '2001:0:7f00:1::', '2001:0:ffff::1']],
    ['IETF assignments in IPv6', ['2001:1::1', '2001:1ff::1']],
    ['benchmarking in IPv6', ['2001:2::1']],
    ['ORCHID', ['2001:10::1', '2001:20::1']],
    ['documentation in IPv6', ['2001:db8::', '2001:db8:ffff::1', '3fff::1', '3fff:fff::1']],
    ['discard', ['100::1', '100:0:0:1::1']],
    ['segment routing', ['5f00::1']],
    ['unique local', ['fc00::', 'fc00::1', 'fd12:3456::1', 'fdff::1']],
    ['link-local IPv6', ['fe80::', 'fe80::1', 'fe80::1%eth0', 'febf::1']],
    ['site-local', ['fec0::', 'fec0::1', 'feff::1']],
    ['multicast in IPv6', ['ff02::1', 'ffff::1']],
    ['not assigned to anybody', ['1::1', '4000::1', '8000::1', 'fe00::1']],
    [
      'no address',
      [
        '',
        'localhost',
        'example.org',
        '1.2.3',
        '1.2.3.4.5',
        '256.1.1.1',
        '134744072',
        '0x8.8.8.8',
        ':::',
        '[::1]',
        '8.8.8.8/32',
      ],
    ],
  ])('%s', (_range, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([])
  })
})

test('neighbours of the special ranges and well-known servers are public', () => {
  const addresses = [
    '1.0.0.0',
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '168.63.129.17',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.0.3.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2003::1',
    '2606:4700:4700::1111',
    '2A00:1450:4001:81B::200E',
    '3ffe::1',
  ]
  expect(addresses.filter((address) => !isPublicAddress(address))).toEqual([])
})

describe('an allowlist', () => {
  test('has its host names in any letter case, but no subdomains or parents of them', () => {
    const { hasHost } = createAllowlist(['Solver.Internal'])
    expect(['solver.internal', 'SOLVER.internal'].filter((host) => !hasHost(host))).toEqual([])
    expect(['a.solver.internal', 'internal', 'solver.internal.example', 'solver'].filter(hasHost)).toEqual([])
  })

  test('has the addresses of its networks, as host and as address', () => {
    const { hasHost, hasAddress } = createAllowlist(['10.1.0.0/16', 'fd00:1::/32'])
    for (const address of ['10.1.0.0', '10.1.255.255', 'fd00:1::', 'fd00:1:ffff::1']) {
      expect([hasHost(address), hasAddress(address)], address).toEqual([true, true])
    }
    for (const address of ['10.0.255.255', '10.2.0.0', 'fd00:2::1', '::1', '127.0.0.1']) {
      expect([hasHost(address), hasAddress(address)], address).toEqual([false, false])
    }
  })

  test('has a single address in any notation', () => {
    const { hasAddress } = createAllowlist(['10.0.0.5', 'fd00::5'])
    expect(['10.0.0.5', 'fd00::5', 'fd00:0:0::0005', '::ffff:10.0.0.5'].every(hasAddress)).toBe(true)
    expect(['10.0.0.4', '10.0.0.6', 'fd00::4', '::a00:5'].some(hasAddress)).toBe(false)
  })

  test('of all IPv4 has no IPv6, and vice versa', () => {
    expect(createAllowlist(['0.0.0.0/0']).hasAddress('::1')).toBe(false)
    expect(createAllowlist(['::/0']).hasAddress('127.0.0.1')).toBe(false)
  })

  test('has no address for an entry that is only a name', () => {
    expect(createAllowlist(['10.0.0.0/8']).hasAddress('ten.example')).toBe(false)
    expect(createAllowlist(['ten.example']).hasAddress('ten.example')).toBe(false)
  })
})
