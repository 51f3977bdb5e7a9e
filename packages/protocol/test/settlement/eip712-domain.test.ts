import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { expect, test } from 'vitest'
import { domain } from '../../src/settlement/deployed-settlement.js'

const CONTRACT = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
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
  const types = parseAbiParameters('bytes1, string, string, uint256, address, bytes32, uint256[]')
  const members = [fields, name, version, chainId, verifyingContract, salt, []] as const
  expect(domain().decode(encodeAbiParameters(types, members))).toEqual(
    Object.fromEntries(names.map((member) => [member, ALL[member]])),
  )
})
