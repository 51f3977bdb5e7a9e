import { expect, test } from 'vitest'
import { parseChainId } from '../../../src/domain/values/chain-id.js'

test.each([
  ['1', 1],
  ['100', 100],
  ['8453', 8453],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
])('parseChainId reads %s', (text, chainId) => {
  expect(parseChainId(text)).toBe(chainId)
})

test.each([
  '0',
  '0100',
  '1e2',
  '100x',
  'x100',
  '0x64',
  '+1',
  '-1',
  '1.0',
  ' 1',
  '1 ',
  '1\n',
  '',
  '9007199254740992',
  '9007199254740993',
  '10000000000000000',
  'constructor',
])('parseChainId refuses %j', (text) => {
  expect(parseChainId(text)).toBeUndefined()
})
