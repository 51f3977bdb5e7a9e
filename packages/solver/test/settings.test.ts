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

it.each<[path: string, change: object, mustBe: string]>([
  ['account', { account: KEY.slice(2) }, 'must be a private key of 32 bytes in hex with 0x'],
  ['account', { account: `0x${'00'.repeat(32)}` }, 'must be a private key'],
  ['account', { account: undefined }, 'must be a private key'],
  [
    'account',
    { account: { address, signMessage } },
    'an account with address, signMessage, signTypedData, signTransaction',
  ],
  ['name', { name: ' ' }, 'must have 1 to 64 visible characters'],
  ['protocolName', { protocolName: 'a b' }, 'must be letters, digits and underscores'],
  ['protocolName', { protocolName: true }, 'expected string'],
  ['aggregatorUrl', { aggregatorUrl: 'localhost:3000' }, 'must be an http or https URL'],
  ['aggregatorUrl[1]', { aggregatorUrl: ['http://a', 'ws://a'] }, 'must be an http or https URL'],
  ['aggregatorUrl', { aggregatorUrl: [] }, 'expected array to have >=1 items'],
  ['aggregatorUrl', { aggregatorUrl: undefined }, 'must be an http or https URL, or a list of at least one'],
  ['chains', { chains: {} }, 'must have at least one chain'],
  ['chains', { chains: undefined }, 'expected record'],
  ['chains.one', { chains: { one: CHAIN } }, 'must be the id of a chain'],
  ['chains.1', { chains: { 1: undefined } }, 'expected object'],
  ['chains.1.rpc', onChain({ rpc: 'ftp://a' }), 'must be an http or ws URL'],
  ['chains.1.rpc', onChain({ rpc: undefined }), 'must be an http or ws URL, or a transport of viem'],
  ['chains.1.settlement', onChain({ settlement: '0x12' }), 'must be a 20-byte address in hex with 0x'],
  ['chains.1.settlement', onChain({ settlement: CONTRACT.replace('E77', 'e77') }), 'with a right checksum'],
  ['chains.1.tokens', onChain({ tokens: [] }), 'expected array to have >=1 items'],
  ['chains.1.tokens[1]', onChain({ tokens: [TOKEN, 'WETH'] }), 'must be a 20-byte address'],
  [
    'chains.1.tokens[0]',
    onChain({ tokens: [{ address: TOKEN, allowance: 5 }] }),
    '{ address, allowance } with a bigint',
  ],
  ['chains.1.pollIntervalMs', onChain({ pollIntervalMs: 0 }), 'expected number to be >=1'],
  ['chains.1.raiseFeesAfterMs', onChain({ raiseFeesAfterMs: Number.NaN }), 'expected number'],
  ['chains.1.maxFeePerGas', onChain({ maxFeePerGas: 5 }), 'expected bigint'],
  ['chains.1.maxGas', onChain({ maxGas: 0n }), 'expected bigint to be >=1'],
  ['chains.1.confirmations', onChain({ confirmations: 121 }), 'expected number to be <=120'],
  ['chains.1.maxPayments', onChain({ maxPayments: 0 }), 'expected number to be >=1'],
  ['chains.1.cancelAbove', onChain({ cancelAbove: -1n }), 'expected bigint to be >=0'],
  ['chains.1.maxCancelFees', onChain({ maxCancelFees: 0n }), 'expected bigint to be >=1'],
  ['chains.1', onChain({ pollInterval: 5 }), 'Unrecognized key: "pollInterval"'],
  ['quote', { quote: undefined }, 'must be a function'],
  ['mayFill', { mayFill: true }, 'must be a function'],
  ['endpointUrl', { endpointUrl: 'solver.example' }, 'must be an http or https URL'],
  ['stateFile', { stateFile: '' }, 'expected string to have >=1 characters'],
  ['overcommit', { overcommit: 0.5 }, 'expected number to be >=1'],
  ['overcommit', { overcommit: '20' }, 'expected number, received string'],
  ['acceptLess', { acceptLess: true }, 'must be a function'],
  ['maxBondShare', { maxBondShare: 0 }, 'expected number to be >0'],
  ['maxOpenBond', { maxOpenBond: 1.1 }, 'expected number to be <=1'],
  ['maxAddressBondShare', { maxAddressBondShare: -0.1 }, 'expected number to be >=0'],
  ['minFillSeconds', { minFillSeconds: 0 }, 'expected number to be >=1'],
  ['maxLockSeconds', { maxLockSeconds: 1.5 }, 'expected int'],
  ['log', { log: console.log }, 'must have the functions debug, info, warn, error'],
  ['onFilled', { onFilled: 5 }, 'must be a function'],
  ['metricsPort', { metricsPort: 65_536 }, 'expected number to be <=65535'],
])('a solver is not built when %s is wrong (case %#)', (path, change, mustBe) => {
  expect(`${refusal(change)}\n`).toContain(` → at ${path}\n`)
  expect(refusal(change)).toContain(mustBe)
})

it('a misspelt option is named', () => {
  expect(refusal({ stateFIle: 'a.db' })).toContain('Unrecognized key: "stateFIle"')
})

it('all wrong options are named at once, and the key is not', () => {
  const key = `${KEY}00`
  const words = refusal({ account: key, overcommit: 0, ...onChain({ tokens: [], maxPayments: 1.5 }) })
  for (const name of ['account', 'overcommit', 'chains.1.tokens', 'chains.1.maxPayments'])
    expect(words).toContain(`at ${name}`)
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
