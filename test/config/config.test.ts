import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type ChainConfig, type Config, processEnvironment, readConfig } from '../../src/config/config.js'
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

describe('each variable is read:', () => {
  test.each<[string, string, Partial<Config>]>([
    ['PROTOCOL_NAME', 'Acme_2', { protocolName: 'Acme_2' }],
    ['REQUIRE_API_KEY', 'quote, streams', { requireApiKey: new Set(['quote', 'streams'] as const) }],
    [
      'REQUIRE_API_KEY',
      'all',
      { requireApiKey: new Set(['quote', 'price', 'order', 'solvers', 'streams', 'global'] as const) },
    ],
    ['HOST', '127.0.0.1', { host: '127.0.0.1' }],
    ['HOST', ' :: ', { host: '::' }],
    ['PORT', '0', { port: 0 }],
    ['PORT', '65535', { port: 65_535 }],
    ['DB_PATH', ':memory:', { dbPath: ':memory:' }],
    ['NODE_ENV', 'production', { production: true }],
    ['NODE_ENV', 'development', { production: false }],
    ['QUOTE_TIMEOUT_MS', '60000', { quoteTimeoutMs: 60_000 }],
    // The default of the soft deadline is never above it.
    ['QUOTE_TIMEOUT_MS', '300', { quoteTimeoutMs: 300, quoteSoftTimeoutMs: 300 }],
    ['QUOTE_SOFT_TIMEOUT_MS', '0', { quoteSoftTimeoutMs: 0 }],
    ['QUOTE_SOFT_TIMEOUT_MS', '2000', { quoteSoftTimeoutMs: 2000 }],
    ['PRICE_CACHE_MS', '0', { priceCacheMs: 0 }],
    ['VERIFY_QUOTES', 'best', { verifyQuotes: 'best' }],
    ['VERIFY_MAX', 'off', { verifyMax: 'off' }],
    ['VERIFY_MAX', 'all', { verifyMax: 'all' }],
    ['VERIFY_TIMEOUT_MS', '60000', { verifyTimeoutMs: 60_000 }],
    ['DEFAULT_DEPOSIT_WINDOW', '86400', { defaultDepositWindowSeconds: 86_400 }],
    ['DEFAULT_FILL_WINDOW', '1', { defaultFillWindowSeconds: 1 }],
    ['MIN_SOLVER_BOND', '0', { minSolverBond: 0n }],
    ['MIN_SOLVER_BOND', '9007199254740993', { minSolverBond: 9_007_199_254_740_993n }],
    ['BOND_CHECK_INTERVAL_MS', '10', { bondCheckIntervalMs: 10 }],
    ['IDLE_POLL_MS', '30000', { idlePollMs: 30_000 }],
    ['MAX_SOLVERS_PER_CHAIN', '1', { maxSolversPerChain: 1 }],
    ['UNBONDED_GRACE_SECONDS', '0', { unbondedGraceMs: 0 }],
    ['MAX_QUOTE_FAN_OUT', '1000', { maxQuoteFanOut: 1000 }],
    ['MAX_CONNECTIONS_PER_SOLVER', '64', { maxConnectionsPerSolver: 64 }],
    ['MAX_STREAM_CLIENTS', '1', { maxStreamClients: 1 }],
    ['MAX_CONNECTIONS_PER_IP', '50', { maxConnectionsPerIp: 50 }],
    ['MAX_STREAM_CLIENTS_PER_IP', '0', { maxStreamClientsPerIp: 0 }],
    ['EVENT_RETENTION_DAYS', '36500', { eventRetentionDays: 36_500 }],
    ['MAX_REORG_DEPTH', '1', { maxReorgDepth: 1 }],
    [
      'CORS_ORIGINS',
      'https://a.example, http://localhost:8080,',
      { corsOrigins: ['https://a.example', 'http://localhost:8080'] },
    ],
    ['TRUST_PROXY', '2', { trustProxy: 2 }],
    ['TRUST_PROXY', '10.0.0.0/8, ::1', { trustProxy: ['10.0.0.0/8', '::1'] }],
    ['SOLVER_SESSIONS', 'false', { solverSessions: false }],
    ['CONSOLE', 'false', { console: false }],
    [
      'PUBLIC_URLS',
      'HTTPS://Quotes.Example:443/, http://localhost:3000,https://quotes.example',
      { publicUrls: ['https://quotes.example', 'http://localhost:3000'] },
    ],
    ['METRICS_AUTH', 'scraper:p:ss', { metricsAuth: 'scraper:p:ss' }],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'https://collector:4318/a/',
      { traces: { url: 'https://collector:4318/a/v1/traces', authorization: undefined, share: 0.1 } },
    ],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'http://me:p%40ss@collector?team=a',
      {
        traces: { url: 'http://collector/v1/traces?team=a', authorization: 'Basic bWU6cEBzcw==', share: 0.1 },
      },
    ],
    [
      'SOLVER_ENDPOINT_ALLOWLIST',
      'solver.internal,10.0.0.0/8,fd00::1',
      { solverEndpointAllowlist: ['solver.internal', '10.0.0.0/8', 'fd00::1'] },
    ],
    ['LOG_LEVEL', 'silent', { logLevel: 'silent' }],
    ['LOG_REQUEST_SAMPLE', '0', { logRequestSample: 0 }],
    ['LOG_REQUEST_SAMPLE', '0.01', { logRequestSample: 0.01 }],
  ])('%s=%s', (variable, value, expected) => {
    expect(read({ [variable]: value })).toEqual({ ...readConfig(LEAST), ...expected })
  })
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
