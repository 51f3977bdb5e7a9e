import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { createSolver } from '../src/create-solver.js'
import type { SolverOptions } from '../src/solver-options.js'

const KEY = `0x${'11'.repeat(32)}` as const
const CONTRACT = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const TOKEN = '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0'
const CHAIN = { rpc: 'http://127.0.0.1:1', settlement: CONTRACT, tokens: [TOKEN] }

/** @returns what createSolver says of options that differ from right ones */
function refusal(change: object): string {
  const right = { account: KEY, name: 'Ada', aggregatorUrl: 'http://127.0.0.1:1', chains: { 1: CHAIN } }
  try {
    createSolver({ ...right, quote: () => ({ amount: 1n }), ...change } as unknown as SolverOptions)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const onChain = (change: object) => ({ chains: { 1: { ...CHAIN, ...change } } })
const { address, signMessage, signTypedData, signTransaction } = privateKeyToAccount(KEY)

it.each([
  [
    'account is a private key',
    { account: KEY.slice(2) },
    'account must be a private key of 32 bytes in hex with 0x',
  ],
  ['account is in the range of keys', { account: `0x${'00'.repeat(32)}` }, 'account must be a private key'],
  ['account is there', { account: undefined }, 'account must be a private key'],
  [
    'account signs',
    { account: { address, signMessage } },
    'an account with address, signMessage, signTypedData and signTransaction',
  ],
  ['name', { name: ' ' }, 'name must have 1 to 64 visible characters'],
  ['protocolName', { protocolName: 'a b' }, 'protocolName must be letters, digits and underscores'],
  ['protocolName is text', { protocolName: true }, 'protocolName must be letters, digits and underscores'],
  [
    'aggregatorUrl is a URL',
    { aggregatorUrl: 'localhost:3000' },
    'aggregatorUrl must be an http or https URL',
  ],
  [
    'each aggregatorUrl',
    { aggregatorUrl: ['http://a', 'ws://a'] },
    'aggregatorUrl must be an http or https URL',
  ],
  [
    'one aggregatorUrl',
    { aggregatorUrl: [] },
    'aggregatorUrl must be an http or https URL, or a list of at least one',
  ],
  ['aggregatorUrl is there', { aggregatorUrl: undefined }, 'aggregatorUrl must be'],
  ['a chain', { chains: {} }, 'chains must have at least one chain'],
  ['chains are there', { chains: undefined }, 'chains must have at least one chain'],
  ['chain ids', { chains: { one: CHAIN } }, 'chains[one] is of no chain: a chain id must be an integer of 1'],
  ['rpc', onChain({ rpc: 'ftp://a' }), 'chains[1].rpc must be an http or ws URL, or a transport of viem'],
  [
    'settlement',
    onChain({ settlement: '0x12' }),
    'chains[1].settlement must be a 20-byte address in hex with 0x',
  ],
  [
    'checksums',
    onChain({ settlement: CONTRACT.replace('E77', 'e77') }),
    'chains[1].settlement must be a 20-byte address in hex with 0x, with a right checksum',
  ],
  ['tokens', onChain({ tokens: [] }), 'chains[1].tokens must be a list of at least one address'],
  [
    'each token',
    onChain({ tokens: [TOKEN, 'WETH'] }),
    'chains[1].tokens must be a list of at least one address',
  ],
  [
    'allowances',
    onChain({ tokens: [{ address: TOKEN, allowance: 5 }] }),
    '{ address, allowance } with a bigint',
  ],
  [
    'pollIntervalMs',
    onChain({ pollIntervalMs: 0 }),
    'chains[1].pollIntervalMs must be an integer of at least 1, in milliseconds',
  ],
  [
    'raiseFeesAfterMs',
    onChain({ raiseFeesAfterMs: Number.NaN }),
    'chains[1].raiseFeesAfterMs must be an integer',
  ],
  ['maxFeePerGas', onChain({ maxFeePerGas: 5 }), 'chains[1].maxFeePerGas must be a bigint of at least 1'],
  ['maxGas', onChain({ maxGas: 0n }), 'chains[1].maxGas must be a bigint of at least 1'],
  [
    'confirmations',
    onChain({ confirmations: 121 }),
    'chains[1].confirmations must be an integer of 0 to 120',
  ],
  ['maxPayments', onChain({ maxPayments: 0 }), 'chains[1].maxPayments must be an integer of at least 1'],
  [
    'cancelAbove',
    onChain({ cancelAbove: -1n }),
    'chains[1].cancelAbove must be a bigint of at least 0, in units of the bond token',
  ],
  ['maxCancelFees', onChain({ maxCancelFees: 0n }), 'chains[1].maxCancelFees must be a bigint of at least 1'],
  ['names of terms', onChain({ pollInterval: 5 }), 'chains[1].pollInterval is not an option of this version'],
  ['quote', { quote: undefined }, 'quote must be a function'],
  ['mayFill', { mayFill: true }, 'mayFill must be a function'],
  ['endpointUrl', { endpointUrl: 'solver.example' }, 'endpointUrl must be an http or https URL'],
  ['stateFile', { stateFile: '' }, 'stateFile must be a text'],
  ['overcommit', { overcommit: 0.5 }, 'overcommit must be a number of at least 1'],
  ['overcommit is a number', { overcommit: '20' }, 'overcommit must be a number of at least 1'],
  ['acceptLess', { acceptLess: true }, 'acceptLess must be a function'],
  ['maxBondShare', { maxBondShare: 0 }, 'maxBondShare must be a number above 0 to 1'],
  ['maxOpenBond', { maxOpenBond: 1.1 }, 'maxOpenBond must be a number above 0 to 1'],
  ['maxAddressBondShare', { maxAddressBondShare: -0.1 }, 'maxAddressBondShare must be a number of 0 to 1'],
  ['minFillSeconds', { minFillSeconds: 0 }, 'minFillSeconds must be an integer of at least 1, in seconds'],
  ['maxLockSeconds', { maxLockSeconds: 1.5 }, 'maxLockSeconds must be an integer of at least 1, in seconds'],
  ['log', { log: console.log }, 'log must have the functions debug, info, warn, error'],
  ['onFilled', { onFilled: 5 }, 'onFilled must be a function'],
  ['metricsPort', { metricsPort: 65_536 }, 'metricsPort must be an integer of 1 to 65535'],
  ['names of options', { stateFIle: 'a.db' }, 'stateFIle is not an option of this version'],
])('a solver is not built when an option is wrong: %s', (_title, change, problem) => {
  expect(refusal(change)).toContain(problem)
})

it('all wrong options are named at once, and the key is not', () => {
  const key = `${KEY}00`
  const words = refusal({ account: key, overcommit: 0, ...onChain({ tokens: [], maxPayments: 1.5 }) })
  for (const name of ['account', 'overcommit', 'chains[1].tokens', 'chains[1].maxPayments'])
    expect(words).toContain(name)
  expect(words).not.toContain(key)
})

it('a solver is built from every kind of right options', () => {
  const lowerCase = CONTRACT.toLowerCase()
  expect(refusal({})).toBe('')
  expect(
    refusal({
      account: { address, signMessage, signTypedData, signTransaction },
      aggregatorUrl: ['http://a', 'https://b/c'],
    }),
  ).toBe('')
  expect(
    refusal({
      ...onChain({ settlement: lowerCase, rpc: () => {}, tokens: [{ address: TOKEN, allowance: 0n }] }),
    }),
  ).toBe('')
  expect(
    refusal({ log: console, overcommit: 20, endpointUrl: 'https://solver.example', mayFill: () => true }),
  ).toBe('')
  expect(
    refusal({
      ...onChain({ maxGas: 1n, cancelAbove: 0n, maxCancelFees: 1n }),
      acceptLess: () => false,
      maxBondShare: 1,
      maxOpenBond: 0.001,
      maxAddressBondShare: 0,
      minFillSeconds: 1,
      maxLockSeconds: 2 ** 32 - 1,
    }),
  ).toBe('')
})
