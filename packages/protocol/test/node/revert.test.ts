import { RawContractError } from 'viem'
import { describe, expect, test } from 'vitest'
import { revertOf } from '../../src/node/revert.js'

const DATA = '0x4e487b710000000000000000000000000000000000000000000000000000000000000011'

describe('a revert is read from the answer of', () => {
  test.each<[string, object]>([
    ['geth, reth, Erigon and anvil', { code: 3, message: 'execution reverted: panic', data: DATA }],
    ['Nethermind since 2026', { code: 3, message: 'execution reverted', data: DATA }],
    [
      'Nethermind before, and OpenEthereum',
      { code: -32015, message: 'VM execution error.', data: `Reverted ${DATA}` },
    ],
    ['Nethermind of 2023', { code: -32015, message: 'revert', data: DATA }],
    ['Besu', { code: -32000, message: 'Execution reverted', data: DATA }],
    ['a gateway with the code of a bad input', { code: -32000, message: 'execution reverted', data: DATA }],
    [
      'Hardhat',
      {
        code: -32603,
        message: 'Error: VM Exception while processing transaction: reverted with panic code 0x11',
        data: { message: 'Error: VM Exception', txHash: '0x01', data: DATA },
      },
    ],
    [
      'Ganache',
      {
        code: -32000,
        message: 'VM Exception while processing transaction: revert',
        data: { hash: '0x01', result: DATA, reason: 'x' },
      },
    ],
    ['a provider in a page', { code: -32603, message: 'Internal JSON-RPC error.', data: DATA }],
    [
      'a provider in a page, around the error of a node',
      {
        code: -32603,
        message: 'Internal JSON-RPC error.',
        data: { originalError: { code: 3, message: 'execution reverted', data: DATA } },
      },
    ],
    ['viem', new RawContractError({ data: DATA })],
    [
      'a node that writes hex in upper case',
      { code: 3, message: '', data: `0x${DATA.slice(2).toUpperCase()}` },
    ],
  ])('%s', (_node, error) => {
    expect(revertOf(error)).toEqual({ data: DATA })
  })
})

test.each<[string, object]>([
  ['is empty', { code: 3, message: 'execution reverted', data: '0x' }],
  ['is left out', { code: -32000, message: 'execution reverted' }],
  ['is not hex', { code: 3, message: 'execution reverted: no', data: 'no' }],
])('a revert whose data %s has none', (_what, error) => {
  expect(revertOf(error)).toEqual({ data: '0x' })
})

test.each<[string, unknown]>([
  ['a rate limit', { code: -32005, message: 'limit exceeded', data: { see: 'https://node.example' } }],
  ['an unknown block', { code: -32000, message: 'header not found' }],
  ['no gas', { code: -32000, message: 'out of gas' }],
  ['an internal error', { code: -32603, message: 'Internal error', data: '0x' }],
  ['a bad instruction', { code: -32015, message: 'VM execution error.', data: 'Bad instruction' }],
  ['a text that only contains the word', { code: -32000, message: 'cannot tell if execution reverted' }],
  ['a text', 'execution reverted'],
  ['nothing', null],
])('%s is no revert', (_what, error) => {
  expect(revertOf(error)).toBeUndefined()
})
