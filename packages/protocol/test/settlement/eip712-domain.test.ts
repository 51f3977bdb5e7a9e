import { encodeAbiParameters, type Hex, parseAbiParameters } from 'viem'
import { expect, test } from 'vitest'
import { depositProxyCodeHash, domain } from '../../src/settlement/deployed-settlement.js'
import { readDomain } from '../../src/settlement/read-settlement.js'

const CONTRACT = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const SALT = `0x${'5a'.repeat(32)}` as const
const ALL = {
  name: 'Settlement',
  version: '2',
  chainId: 10n,
  verifyingContract: CONTRACT,
  salt: SALT,
} as const

function encodeDomain(fields: Hex): Hex {
  const { name, version, chainId, verifyingContract, salt } = ALL
  const types = parseAbiParameters('bytes1, string, string, uint256, address, bytes32, uint256[]')
  return encodeAbiParameters(types, [fields, name, version, chainId, verifyingContract, salt, []])
}

test.each([
  ['0x00', []],
  ['0x01', ['name']],
  ['0x0c', ['chainId', 'verifyingContract']],
  ['0x0f', ['name', 'version', 'chainId', 'verifyingContract']],
  ['0x1f', ['name', 'version', 'chainId', 'verifyingContract', 'salt']],
] as const)('a domain with the fields %s has the members %j', (fields, names) => {
  expect(domain().decode(encodeDomain(fields))).toEqual(
    Object.fromEntries(names.map((member) => [member, ALL[member]])),
  )
})

test.each([
  ['has the name that the contract says', encodeDomain('0x01'), { name: 'Settlement' }],
  [
    "has the protocol's name where the contract has no eip712Domain()",
    '0x',
    { name: 'Acme', version: '1', chainId: 10, verifyingContract: CONTRACT },
  ],
] as const)('the domain of quotes %s', async (_what, answer, expected) => {
  const contract = { domain, depositProxyCodeHash }
  const request = async ({ params: [call] }: { params: [{ data: Hex }?] }) =>
    call?.data === domain().data ? answer : SALT
  const named = { chainId: 10, settlement: CONTRACT, protocolName: 'Acme' } as const
  expect((await readDomain(request, named, contract)).domain).toEqual(expected)
})
