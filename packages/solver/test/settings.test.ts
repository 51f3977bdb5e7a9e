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

/** What createSolver says when the option that a path names has a value. */
function refusalOf(path: string, value: unknown): string {
  const [option = '', chainId = '', name] = path.replace(/\[.*/, '').split('.')
  if (chainId === '') return refusal({ [option]: value })
  return refusal(name === undefined ? { chains: { [chainId]: value } } : onChain({ [name]: value }))
}

it.each<[path: string, value: unknown, mustBe: string]>([
  ['account', KEY.slice(2), 'must be a private key of 32 bytes in hex with 0x'],
  ['account', `0x${'00'.repeat(32)}`, 'must be a private key'],
  [
    'account',
    { address, signMessage },
    'an account with address, signMessage, signTypedData, signTransaction',
  ],
  ['name', ' ', 'must have 1 to 64 visible characters'],
  ['protocolName', 'a b', 'must be letters, digits and underscores'],
  ['aggregatorUrl', 'localhost:3000', 'must be an http or https URL'],
  ['aggregatorUrl[1]', ['http://a', 'ws://a'], 'must be an http or https URL'],
  ['aggregatorUrl', [], 'expected array to have >=1 items'],
  ['chains', {}, 'must have at least one chain'],
  ['chains.one', CHAIN, 'must have chains by their ids'],
  ['chains.1', { ...CHAIN, pollInterval: 5 }, 'Unrecognized key: "pollInterval"'],
  ['chains.1.rpc', 'ftp://a', 'must be an http or ws URL'],
  ['chains.1.settlement', '0x12', 'must be a 20-byte address in hex with 0x'],
  ['chains.1.settlement', CONTRACT.replace('E77', 'e77'), 'with a right checksum'],
  ['chains.1.tokens', [], 'expected array to have >=1 items'],
  ['chains.1.tokens[1]', [TOKEN, 'WETH'], 'must be an address with a right checksum'],
  ['chains.1.tokens[0]', [{ address: TOKEN, allowance: 5 }], '{ address, allowance } with a bigint'],
  ['chains.1.pollIntervalMs', 0, 'to be >=1'],
  ['chains.1.raiseFeesAfterMs', Number.NaN, 'expected number'],
  ['chains.1.maxFeePerGas', 5, 'expected bigint'],
  ['chains.1.maxGas', 0n, 'expected bigint to be >=1'],
  ['chains.1.confirmations', 121, 'to be <=120'],
  ['chains.1.maxPayments', 0, 'to be >=1'],
  ['chains.1.cancelAbove', -1n, 'to be >=0'],
  ['chains.1.maxCancelFees', 0n, 'to be >=1'],
  ['endpointUrl', 'solver.example', 'must be an http or https URL'],
  ['stateFile', '', 'to have >=1 characters'],
  ['overcommit', 0.5, 'to be >=1'],
  ['maxBondShare', 0, 'to be >0'],
  ['maxOpenBond', 1.1, 'to be <=1'],
  ['maxAddressBondShare', -0.1, 'to be >=0'],
  ['minFillSeconds', 0, 'to be >=1'],
  ['maxLockSeconds', 1.5, 'expected int'],
  ['metricsPort', 65_536, 'to be <=65535'],
  ['log', console.log, 'must have the functions debug, info, warn, error'],
  ['quote', undefined, 'must be a function'],
  ['mayFill', true, 'must be a function'],
  ['acceptLess', true, 'must be a function'],
  ['onFilled', 5, 'must be a function'],
])('a solver is not built when %s is wrong (case %#)', (path, value, mustBe) => {
  expect(`${refusalOf(path, value)}\n`).toContain(` → at ${path}\n`)
  expect(refusalOf(path, value)).toContain(mustBe)
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

it.each<object>([
  {},
  { account: { address, signMessage, signTypedData, signTransaction } },
  { aggregatorUrl: ['http://a', 'https://b/c'], endpointUrl: 'https://solver.example' },
  onChain({ settlement: CONTRACT.toLowerCase(), rpc: () => {}, tokens: [{ address: TOKEN, allowance: 0n }] }),
  onChain({ maxGas: 1n, cancelAbove: 0n, maxCancelFees: 1n }),
  { log: console, mayFill: () => true, acceptLess: () => false },
  { overcommit: 20, maxBondShare: 1, maxOpenBond: 0.001, maxAddressBondShare: 0 },
  { minFillSeconds: 1, maxLockSeconds: 2 ** 32 - 1 },
])('a solver is built from right options (case %#)', (options) => {
  expect(refusal(options)).toBe('')
})
