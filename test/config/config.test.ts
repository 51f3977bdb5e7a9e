import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { readChains } from '../../src/config/chains.js'
import { type ChainConfig, type Config, processEnvironment, readConfig } from '../../src/config/config.js'
import { ConfigError, EnvironmentReader } from '../../src/config/environment.js'
import { DEFAULTS, OPTIONAL_VARIABLES } from '../../src/config/variables.js'

const SETTLEMENT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

/** The smallest valid configuration. */
const LEAST = { SUPPORTED_CHAINS: '1', RPC_URL_1: 'http://127.0.0.1:8545', SERVICE_ADDRESS_1: SETTLEMENT }

afterEach(() => vi.unstubAllEnvs())

function read(changes: Record<string, string | undefined>): Config {
  return readConfig({ ...LEAST, ...changes })
}

function readOneChain(changes: Record<string, string | undefined>): ChainConfig | undefined {
  return read(changes).chains[0]
}

describe('defaults', () => {
  test.each(['', '  '])('apply when every variable is %j', (blank) => {
    const optional = OPTIONAL_VARIABLES.filter((name) => name !== 'SUPPORTED_CHAINS')
    const names = [...Object.keys(DEFAULTS), ...optional]
    const ofChain = [
      'POLL_INTERVAL_MS_1',
      'CONFIRMATIONS_1',
      'RECHECK_BLOCKS_1',
      'START_BLOCK_1',
      'DESTINATION_CHAINS_1',
    ]
    expect(read(Object.fromEntries([...names, ...ofChain].map((name) => [name, blank])))).toEqual(
      readConfig(LEAST),
    )
  })
})

test.each<[string, Config['traces']]>([
  [
    'https://collector:4318/a/',
    { url: 'https://collector:4318/a/v1/traces', authorization: undefined, share: 0.1 },
  ],
  [
    'http://me:p%40ss@collector?team=a',
    { url: 'http://collector/v1/traces?team=a', authorization: 'Basic bWU6cEBzcw==', share: 0.1 },
  ],
])('traces go to the collector %s', (url, traces) => {
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: url })).toMatchObject({ traces })
})

describe('the database', () => {
  const DATABASE_URL = 'postgresql://ada:s%40cret@db.example:5433/quotes?sslmode=verify-full'

  test.each([DATABASE_URL, 'postgres://127.0.0.1/quotes', 'postgres://%2Frun%2Fpostgresql/quotes'])(
    'is the PostgreSQL at %s, which also counts requests',
    (databaseUrl) => {
      const shared = { databaseUrl, rateLimitStore: 'postgres' }
      expect(read({ DATABASE_URL: databaseUrl })).toEqual({ ...readConfig(LEAST), ...shared })
    },
  )

  test('can be shared while each replica counts requests in its own memory', () => {
    expect(read({ DATABASE_URL, RATE_LIMIT_STORE: 'memory' }).rateLimitStore).toBe('memory')
    expect(read({ DATABASE_URL, RATE_LIMIT_STORE: 'postgres' }).rateLimitStore).toBe('postgres')
    expect(read({ RATE_LIMIT_STORE: 'memory' })).toEqual(readConfig(LEAST))
  })
})

describe('a chain', () => {
  test('has several RPC endpoints in their order, http and ws', () => {
    const urls = 'wss://rpc.example/key, https://rpc.example?key=1,http://127.0.0.1:8545,ws://[::1]:8546'
    expect(readOneChain({ RPC_URL_1: urls })?.rpcUrls).toEqual([
      'wss://rpc.example/key',
      'https://rpc.example?key=1',
      'http://127.0.0.1:8545',
      'ws://[::1]:8546',
    ])
  })

  test('is a destination itself, in addition to the listed ones', () => {
    const listed = { DESTINATION_CHAINS_1: ' 10, 8453,10,1 ' }
    expect(readOneChain(listed)).toMatchObject({ destinationChains: [1, 10, 8453] })
  })

  test('has a poll interval, confirmations and a first block', () => {
    const changes = {
      POLL_INTERVAL_MS_1: '10',
      CONFIRMATIONS_1: '12',
      START_BLOCK_1: '0',
      RECHECK_BLOCKS_1: '7',
    }
    expect(readOneChain(changes)).toMatchObject({
      pollIntervalMs: 10,
      confirmations: 12,
      startBlock: 0,
      recheckBlocks: 7,
    })
  })

  test('has one set of variables for each chain, in their order', () => {
    const { chains } = read({
      SUPPORTED_CHAINS: ' 8453 ,1, ',
      RPC_URL_8453: 'http://127.0.0.1:1',
      SERVICE_ADDRESS_8453: `0x${'11'.repeat(20)}`,
      CONFIRMATIONS_8453: '3',
    })
    expect(
      chains.map(({ chainId, rpcUrls, confirmations }) => ({ chainId, rpcUrls, confirmations })),
    ).toEqual([
      { chainId: 8453, rpcUrls: ['http://127.0.0.1:1'], confirmations: 3 },
      { chainId: 1, rpcUrls: ['http://127.0.0.1:8545'], confirmations: 0 },
    ])
  })

  test('has a known name and explorer, and the operator may name others', () => {
    const base = (changes = {}) =>
      readOneChain({
        SUPPORTED_CHAINS: '8453',
        RPC_URL_8453: LEAST.RPC_URL_1,
        SERVICE_ADDRESS_8453: SETTLEMENT,
        ...changes,
      })
    expect(base()).toMatchObject({ name: 'Base', explorerUrl: 'https://basescan.org' })
    const settings = { CHAIN_NAME_8453: 'Our chain', EXPLORER_URL_8453: 'https://explorer.example/base/' }
    expect(base(settings)).toMatchObject({
      name: 'Our chain',
      explorerUrl: 'https://explorer.example/base',
    })
  })

  test('without a known name is called by its id', () => {
    const env = new EnvironmentReader({ SUPPORTED_CHAINS: '123220401683' }, {})
    expect(readChains(env)[0]).toMatchObject({ name: 'Chain 123220401683', explorerUrl: undefined })
  })

  test.each([
    ['CHAIN_NAME_1', 'a\u202eb'],
    ['CHAIN_NAME_1', 'n'.repeat(65)],
    ['EXPLORER_URL_1', 'javascript:alert(1)'],
    ['EXPLORER_URL_1', 'basescan.org'],
    ['EXPLORER_URL_1', 'https://basescan.org/?q='],
    ['PUBLIC_RPC_URL_1', 'wss://rpc.example'],
    ['PUBLIC_RPC_URL_1', 'https://user:secret@rpc.example'],
  ])('refuses %s=%s', (variable, value) => {
    expect(() => read({ [variable]: value })).toThrow(ConfigError)
  })

  test('that is not supported may have variables with any values', () => {
    expect(read({ RPC_URL_5: 'nonsense', SERVICE_ADDRESS_5: 'nonsense' })).toEqual(readConfig(LEAST))
  })
})

test("the process's environment overrides a file .env in the working directory", () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'))
  const before = process.cwd()
  onTestFinished(() => {
    process.chdir(before)
    rmSync(folder, { recursive: true })
  })
  writeFileSync(join(folder, '.env'), 'PROTOCOL_NAME=FromFile\nDB_PATH=from-file.db\n')
  process.chdir(folder)
  vi.stubEnv('PROTOCOL_NAME', 'FromProcess')
  vi.stubEnv('DB_PATH', undefined)
  expect(processEnvironment()).toMatchObject({ PROTOCOL_NAME: 'FromProcess', DB_PATH: 'from-file.db' })
  writeFileSync(join(folder, '.env'), '\ufeffDB_PATH=after-a-mark.db\r\nPORT=1\r\n')
  expect(processEnvironment()).toMatchObject({ DB_PATH: 'after-a-mark.db', PORT: '1' })
})
