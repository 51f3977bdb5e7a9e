import { expect, test } from 'vitest'
import { usedMembers } from '../src/typed-data-domain.js'

const CONTRACT = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'
const SALT = `0x${'5a'.repeat(32)}` as const
const ALL = {
  name: 'Settlement',
  version: '2',
  chainId: 10n,
  verifyingContract: CONTRACT,
  salt: SALT,
} as const

test.each([
  ['0x00', []],
  ['0x01', ['name']],
  ['0x0c', ['chainId', 'verifyingContract']],
  ['0x0f', ['name', 'version', 'chainId', 'verifyingContract']],
  ['0x1f', ['name', 'version', 'chainId', 'verifyingContract', 'salt']],
] as const)('a domain with the fields %s has the members %j', (fields, names) => {
  const { name, version, chainId, verifyingContract, salt } = ALL
  const domain = usedMembers([fields, name, version, chainId, verifyingContract, salt, []])
  expect(domain).toEqual(Object.fromEntries(names.map((member) => [member, ALL[member]])))
})
