import { describe, expect, test } from 'vitest'
import { ChainStatusSchema } from '../../../gen/aggregator/v1/chain_health_pb.js'
import type { TypedDataDomain } from '../../../packages/protocol/src/typed-data-domain.js'
import { jsonNames } from '../../../src/http/rest/json-names.js'
import { toDomainMessage } from '../../../src/rpc/convert/convert-chains.js'

const CONTRACT = '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'
const SALT = `0x${'ab'.repeat(32)}` as const

describe('an EIP-712 domain', () => {
  test('has exactly the members that the contract uses', () => {
    const name = 'n'.repeat(256)
    expect(toDomainMessage({ name, version: '', chainId: 2 ** 53 - 1, verifyingContract: CONTRACT })).toEqual(
      {
        name,
        version: '',
        chainId: 2n ** 53n - 1n,
        verifyingContract: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      },
    )
    expect(toDomainMessage({ chainId: 1n, salt: SALT })).toEqual({ chainId: 1n, salt: SALT })
    expect(toDomainMessage({})).toEqual({})
  })

  test.each<[string, TypedDataDomain]>([
    ['the chain id', { name: 'A', chainId: 2n ** 53n }],
    ['the name', { name: 'n'.repeat(257), chainId: 1 }],
    ['the version', { name: 'A', version: '1'.repeat(257) }],
  ])('is absent when %s is too large', (_, domain) => {
    expect(toDomainMessage(domain)).toBeUndefined()
  })
})

test('the status of a chain has the names of /health', () => {
  const [, ...names] = jsonNames(ChainStatusSchema).values()
  expect(names).toEqual(['ok', 'syncing', 'down'])
})
