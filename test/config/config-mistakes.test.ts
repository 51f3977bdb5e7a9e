import { describe, expect, test } from 'vitest'
import { AN_ORIGIN } from '../../packages/protocol/src/values/origin.js'
import { readConfig } from '../../src/config/config.js'
import { ConfigError, type ConfigIssue } from '../../src/config/environment.js'

const LEAST = {
  SUPPORTED_CHAINS: '1',
  RPC_URL_1: 'http://127.0.0.1:8545',
  SERVICE_ADDRESS_1: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
}

function readInvalid(environment: Record<string, string | undefined>): ConfigError {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  throw new Error('the configuration was accepted')
}

/** The errors of a configuration that is valid except for these variables. */
function issues(changes: Record<string, string | undefined>): readonly ConfigIssue[] {
  return readInvalid({ ...LEAST, ...changes }).issues
}

const RPC = 'it must be an http, https, ws or wss URL'
const ADDRESS = 'it must be a 20-byte address in hex with 0x'
const CHAIN_ID = 'a chain id must be a decimal integer of 1 to 2^53-1'
const ORIGIN = 'it must be * or origins such as https://app.example.org'
const PUBLIC =
  'it must be an http or https origin without path or credentials, such as https://quotes.example'
const PROXY = 'it must be a number of hops, or addresses and CIDRs of proxies'
const ALLOWED = 'it must be a host name, an IP address or a CIDR'
const NAME = 'it must be letters, digits and underscores, to name a Solidity struct'
const DATABASE = 'must be a URL such as postgres://user:password@host:5432/database'
const BOND = "it must be a decimal integer in the token's smallest unit"

describe('an error names the variable and what it must be:', () => {
  test.each([
    ['PROTOCOL_NAME', 'My Protocol', `is "My Protocol": ${NAME}`],
    ['SUPPORTED_CHAINS', '1,0x2', `has "0x2": ${CHAIN_ID}`],
    ['SUPPORTED_CHAINS', '1,01', `has "01": ${CHAIN_ID}`],
    ['SUPPORTED_CHAINS', '1,1', 'has 1 twice'],
    ['DESTINATION_CHAINS_1', '10,0x2', 'has "0x2": it must be a chain id, a decimal integer of 1 to 2^53-1'],
    ['RPC_URL_1', 'localhost', `is wrong at position 1: ${RPC}`],
    ['RPC_URL_1', 'http://a.example,ftp://b.example', `is wrong at position 2: ${RPC}`],
    ['RPC_URL_1', 'http://a.example:99999', 'is wrong at position 1: its port must be 1 to 65535'],
    [
      'RPC_URL_1',
      'http://a.example;https://b.example',
      'is wrong at position 1: several URLs must be separated by commas',
    ],
    [
      'RPC_URL_1',
      'http://a.example/x wss://b.example',
      'is wrong at position 1: several URLs must be separated by commas',
    ],
    [
      'DB_PATH',
      'postgres://ada:secret@db.example/quotes',
      'is a URL of PostgreSQL: set DATABASE_URL to it, and remove DB_PATH',
    ],
    ['DB_PATH', 'file:///data/service.db', 'is a URL: it must be a file path or :memory:'],
    [
      'SERVICE_ADDRESS_1',
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed',
      'is "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed", whose checksum (EIP-55) is wrong: compare it with its source, or write it in lower case',
    ],
    ['DB_PATH', ':memory', 'is ":memory": it must be a file path or :memory:'],
    ['RPC_URL_1', '', 'is missing: it must be http or ws URLs of JSON-RPC endpoints, comma-separated'],
    ['SERVICE_ADDRESS_1', '', "is missing: it must be the settlement contract's address"],
    ['SERVICE_ADDRESS_1', '0x1234', `is "0x1234": ${ADDRESS}`],
    ['MIN_SOLVER_BOND', '-1', `is "-1": ${BOND}`],
    ['DATABASE_URL', 'mysql://ada:secret@db.example/quotes', DATABASE],
    ['DATABASE_URL', 'postgres://ada:sec/ret@db.example/quotes', DATABASE],
    ['RATE_LIMIT_STORE', 'redis', 'is "redis": it must be one of memory, postgres'],
    ['RATE_LIMIT_STORE', 'postgres', 'is postgres, for which DATABASE_URL must be set'],
    ['CORS_ORIGINS', 'app.example.org', `has "app.example.org": ${ORIGIN}`],
    ['TRUST_PROXY', 'yes', `has "yes": ${PROXY}`],
    ['TRUST_PROXY', '100', `has "100": ${PROXY}`],
    ['TRUST_PROXY', '10.0.0.0/33', `has "10.0.0.0/33": ${PROXY}`],
    ['SOLVER_SESSIONS', 'yes', 'is "yes": it must be one of true, false'],
    ['CONSOLE', 'no', 'is "no": it must be one of true, false'],
    ['PUBLIC_URLS', 'quotes.example', `has "quotes.example": ${PUBLIC}`],
    ['PUBLIC_URLS', 'https://quotes.example/v1', `has "https://quotes.example/v1": ${PUBLIC}`],
    ['METRICS_AUTH', 'password', 'must be user:password'],
    ['SOLVER_ENDPOINT_ALLOWLIST', 'https://a.example', `has "https://a.example": ${ALLOWED}`],
    ['SOLVER_ENDPOINT_ALLOWLIST', '10.0.0.0/33', `has "10.0.0.0/33": ${ALLOWED}`],
    ...['-1', '1.1', '2', '1%', '.5', '1e-3', '0,1', 'NaN'].map(
      (share) =>
        ['LOG_REQUEST_SAMPLE', share, `is "${share}": it must be a number of 0 to 1, such as 0.1`] as [
          string,
          string,
          string,
        ],
    ),
    ['VERIFY_QUOTES', 'first', 'is "first": it must be one of off, best, all'],
    ['VERIFY_QUOTES', 'all', 'is all: it must not exceed VERIFY_MAX, which is best'],
    ['VERIFY_MAX', 'on', 'is "on": it must be one of off, best, all'],
    ['LOG_LEVEL', 'loud', 'is "loud": it must be one of trace, debug, info, warn, error, fatal, silent'],
  ])('%s=%s', (variable, value, message) => {
    expect(issues({ [variable]: value })).toEqual([{ variable, message }])
  })

  test('RPC_URL_<chainId> with nothing but commas', () => {
    expect(issues({ RPC_URL_1: ' , ' })).toMatchObject([{ variable: 'RPC_URL_1' }])
  })
})

describe('an integer must be decimal digits within its range:', () => {
  const ranges: [string, number, number][] = [
    ['PORT', 0, 65_535],
    ['QUOTE_TIMEOUT_MS', 1, 60_000],
    ['BOND_CHECK_INTERVAL_MS', 10, 30_000],
    ['MAX_QUOTE_FAN_OUT', 1, 1000],
    ['MAX_STREAM_CLIENTS_PER_IP', 0, 1_000_000],
    ['QUOTE_RECORD_HOURS', 0, 8784],
    ['RATE_LIMIT_QUOTE', 0, 1_000_000],
    ['POLL_INTERVAL_MS_1', 10, 86_400_000],
    ['START_BLOCK_1', 0, Number.MAX_SAFE_INTEGER],
  ]

  test.each(ranges)('%s', (variable, min, max) => {
    const outside = [String(BigInt(min) - 1n), String(BigInt(max) + 1n)]
    for (const text of [...outside, '-5', '+5', '5.0', '5e0', '0x5', '5s', 'NaN', 'Infinity', '5 5']) {
      const message = `is "${text}": it must be an integer of ${min} to ${max}`
      expect(issues({ [variable]: text }), text).toEqual([{ variable, message }])
    }
    for (const text of [String(min), String(max)]) {
      expect(() => readConfig({ ...LEAST, [variable]: text }), text).not.toThrow()
    }
  })
})

test('an invalid VERIFY_MAX is one error, whatever VERIFY_QUOTES is', () => {
  const message = 'is "on": it must be one of off, best, all'
  expect(issues({ VERIFY_MAX: 'on', VERIFY_QUOTES: 'all' })).toEqual([{ variable: 'VERIFY_MAX', message }])
})

describe('how other replicas ask this one', () => {
  const DATABASE_URL = 'postgres://ada:secret@db.example/quotes'
  const BOTH = { DATABASE_URL, REPLICA_URL: 'http://10.0.0.7:3100', REPLICA_PORT: '3100' }
  const OWN_PORT = 'it must be a port of its own, or 0 for a free one'

  test('needs both variables and a database that they share', () => {
    const { replicaAccess } = readConfig({ ...LEAST, ...BOTH })
    expect(replicaAccess).toEqual({ url: 'http://10.0.0.7:3100', port: 3100 })
  })

  test.each([
    [{ REPLICA_URL: '' }, 'REPLICA_URL', `is missing, and REPLICA_PORT is set: it must be ${AN_ORIGIN}`],
    [{ REPLICA_PORT: '' }, 'REPLICA_PORT', `is missing, and REPLICA_URL is set: ${OWN_PORT}`],
    [{ REPLICA_URL: '10.0.0.7:3100' }, 'REPLICA_URL', `is "10.0.0.7:3100": it must be ${AN_ORIGIN}`],
    [
      { REPLICA_URL: 'http://a.example/b' },
      'REPLICA_URL',
      `is "http://a.example/b": it must be ${AN_ORIGIN}`,
    ],
    [{ PORT: '3100' }, 'REPLICA_PORT', `is 3100, as PORT is: ${OWN_PORT}`],
    [{ DATABASE_URL: '' }, 'REPLICA_URL', 'is for replicas, which share a PostgreSQL: set DATABASE_URL too'],
  ])('%o', (changes, variable, message) => {
    expect(issues({ ...BOTH, ...changes })).toEqual([{ variable, message }])
  })
})

test('an invalid DATABASE_URL is one error, whichever store counts the requests', () => {
  const changes = { DATABASE_URL: 'db.example', RATE_LIMIT_STORE: 'postgres' }
  expect(issues(changes)).toEqual([{ variable: 'DATABASE_URL', message: DATABASE }])
})

test('an empty configuration lists all required variables', () => {
  expect(readInvalid({}).issues).toEqual([
    {
      variable: 'SUPPORTED_CHAINS',
      message: 'is missing: it must be the chain ids to serve, such as 1,8453',
    },
    {
      variable: 'RPC_URL_<chainId>',
      message: 'is missing: it must be the JSON-RPC endpoint, for each supported chain',
    },
    {
      variable: 'SERVICE_ADDRESS_<chainId>',
      message: 'is missing: it must be the settlement contract, for each supported chain',
    },
  ])
})

test.each([' ', ',', ' , '])('SUPPORTED_CHAINS=%j counts as missing', (value) => {
  expect(issues({ SUPPORTED_CHAINS: value })[0]).toMatchObject({
    variable: 'SUPPORTED_CHAINS',
    message: expect.stringMatching(/^is missing/),
  })
})

test('a chain without its variables needs two of them', () => {
  expect(issues({ SUPPORTED_CHAINS: '1,8453' }).map(({ variable }) => variable)).toEqual([
    'RPC_URL_8453',
    'SERVICE_ADDRESS_8453',
  ])
})

test('all errors are reported at once, each on its own line', () => {
  const error = readInvalid({
    PROTOCOL_NAME: 'My Protocol',
    SUPPORTED_CHAINS: '1,x,8453,1',
    RPC_URL_1: 'localhost,ftp://b.example',
    SERVICE_ADDRESS_8453: '0x12',
    PORT: '70000',
    MIN_SOLVER_BOND: 'lots',
    RATE_LIMIT_QUOTE: '-1',
    CORS_ORIGINS: 'a,b',
    TRUST_PROXY: 'yes',
    METRICS_AUTH: 'password',
    SOLVER_ENDPOINT_ALLOWLIST: '*',
    LOG_LEVEL: 'loud',
  })
  const variables = error.issues.map(({ variable }) => variable)
  expect(variables.sort()).toEqual([
    'CORS_ORIGINS',
    'CORS_ORIGINS',
    'LOG_LEVEL',
    'METRICS_AUTH',
    'MIN_SOLVER_BOND',
    'PORT',
    'PROTOCOL_NAME',
    'RATE_LIMIT_QUOTE',
    'RPC_URL_1',
    'RPC_URL_1',
    'RPC_URL_8453',
    'SERVICE_ADDRESS_1',
    'SERVICE_ADDRESS_8453',
    'SOLVER_ENDPOINT_ALLOWLIST',
    'SUPPORTED_CHAINS',
    'SUPPORTED_CHAINS',
    'TRUST_PROXY',
  ])
  expect(error.message.split('\n')).toHaveLength(variables.length)
  expect(error.message).toContain('PORT is "70000": it must be an integer of 0 to 65535')
})

test.each(['prod', 'Production', 'staging'])(
  'NODE_ENV=%s is refused, because it would turn off the rules of production',
  (mode) => {
    const message = `is "${mode}": it must be production, development or test`
    expect(issues({ NODE_ENV: mode })).toEqual([{ variable: 'NODE_ENV', message }])
  },
)
