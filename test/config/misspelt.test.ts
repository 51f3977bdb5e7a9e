import { expect, test } from 'vitest'
import { describeMisspelling, findMisspellings, nearMiss } from '../../src/config/misspelt.js'
import { CHAIN_DEFAULTS, DEFAULTS, OPTIONAL_VARIABLES } from '../../src/config/variables.js'

const LEAST = {
  SUPPORTED_CHAINS: '10, 8453',
  RPC_URL_10: 'http://127.0.0.1:8545',
  SERVICE_ADDRESS_10: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
}

test.each([
  ['QUOTE_TIMEOUT', 'QUOTE_TIMEOUT_MS'],
  ['RATE_LIMIT_QOUTE', 'RATE_LIMIT_QUOTE'],
  ['DEPOSIT_WINDOW', 'DEFAULT_DEPOSIT_WINDOW'],
  ['quote_timeout_ms', 'QUOTE_TIMEOUT_MS'],
  ['RPC_URL', 'RPC_URL_<chainId>'],
  ['RPC_URLS_8453', 'RPC_URL_8453'],
  ['RPC_URL10', 'RPC_URL_10'],
  ['FIRMSWAP_ADDRESS_8453', 'SERVICE_ADDRESS_8453'],
  ['POLL_INTERVAL_10', 'POLL_INTERVAL_MS_10'],
  ['SUPPORTED_CHAIN_IDS', 'SUPPORTED_CHAINS'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['DBPATH', 'DB_PATH'],
  ['Port', 'PORT'],
])('%s is reported as a misspelt %s', (variable, meant) => {
  const found = findMisspellings({ ...LEAST, [variable]: '1' })
  expect(found).toEqual([{ variable, meant }])
  expect(found.map(describeMisspelling)).toEqual([
    `is set, but the service does not read it: did you mean ${meant}?`,
  ])
})

test('variables of the service, of chains that it does not serve, of other programs, and empty ones are not reported', () => {
  const own = [...Object.keys(DEFAULTS), ...OPTIONAL_VARIABLES, 'SUPPORTED_CHAINS']
  const ofChains = [
    'RPC_URL_10',
    'RPC_URL_1',
    'SERVICE_ADDRESS_10',
    ...Object.keys(CHAIN_DEFAULTS).map((name) => `${name}_8453`),
  ]
  const others = [
    'PATH',
    'POST',
    'SORT',
    'NODE_OPTIONS',
    'PGHOST',
    'ETH_RPC_URL',
    'TOKEN_ADDRESS_10',
    'FIRMSWAP_ADDRESS_1',
    'TEST_DATABASE_URL',
    'RPC_URL_PORT_8545_TCP',
    'KUBERNETES_SERVICE_HOST',
    'TIMEOUT_MS',
    'DB_HOST',
    'npm_package_name',
    '_',
    `QUOTE_TIMEOUT${'_'.repeat(100)}`,
  ]
  const environment = Object.fromEntries([...own, ...ofChains, ...others].map((name) => [name, '1']))
  expect(
    findMisspellings({ ...environment, SUPPORTED_CHAINS: '10,8453', QUOTE_TIMEOUT: ' ', RPC_URL: undefined }),
  ).toEqual([])
})

const KNOWN = ['chainId', 'type', 'orderId', 'user', 'solver', 'after']
const twoLetters = () => 2

test.each([
  ['chainid', 'chainId'],
  ['chain_id', 'chainId'],
  ['usr', 'user'],
  ['solvr', 'solver'],
])('%s is a near miss of %s', (name, meant) => {
  expect(nearMiss(name, KNOWN, twoLetters)).toBe(meant)
})

test.each(['', 'x', 'limit', 'cursor', 'orderIdentifier'])('%j is a near miss of nothing', (name) => {
  expect(nearMiss(name, KNOWN, twoLetters)).toBeUndefined()
})

test('the nearest name is returned, and each name has its own distance', () => {
  expect(nearMiss('orders', ['orderId', 'order'], twoLetters)).toBe('order')
  expect(nearMiss('CHAIN-ID', KNOWN, () => 0)).toBe('chainId')
  expect(nearMiss('orders', ['orderId', 'order'], (name) => (name === 'order' ? 0 : 2))).toBe('orderId')
})
