import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parseUint256 } from './domain/amount.js'
import { parseChainId } from './domain/chain-id.js'
import { type Address, parseAddress } from './domain/hex.js'
import { type Environment, EnvironmentReader } from './environment.js'
import { LOG_LEVELS, type LogLevel } from './telemetry/log.js'
import { CHAIN_DEFAULTS, DEFAULTS } from './variables.js'

/** A chain that the instance serves. */
export interface ChainConfig {
  readonly chainId: number
  /** JSON-RPC endpoints, http or ws, tried in order. */
  readonly rpcUrls: readonly string[]
  readonly settlement: Address
  readonly pollIntervalMs: number
  /** First block to read events from when none is stored; the head when undefined. */
  readonly startBlock: number | undefined
  /** How many blocks must lie on top of an event's block before it is announced. */
  readonly confirmations: number
}

/** Requests that one client may make; 0 is no limit (decisions.md D8). */
export interface RateLimitConfig {
  /** Of all routes without a limit of their own, per `windowMs`. */
  readonly max: number
  readonly windowMs: number
  /** Per minute, of one method each. */
  readonly quote: number
  readonly order: number
  readonly register: number
  readonly unregister: number
  readonly solvers: number
}

/** Everything that can be set. */
export interface Config {
  readonly protocolName: string
  readonly chains: readonly ChainConfig[]
  readonly host: string
  readonly port: number
  readonly dbPath: string
  /** Whether solver endpoints must be HTTPS on public addresses. */
  readonly production: boolean
  readonly quoteTimeoutMs: number
  readonly defaultDepositWindowSeconds: number
  readonly defaultFillWindowSeconds: number
  /** In the bond token's smallest unit. */
  readonly minSolverBond: bigint
  /** How often every solver's bond is read, whatever the chain's events tell. */
  readonly bondCheckIntervalMs: number
  readonly maxSolversPerChain: number
  readonly maxQuoteFanOut: number
  readonly rateLimits: RateLimitConfig
  readonly maxStreamClients: number
  /** How long events can be replayed. */
  readonly eventRetentionDays: number
  /** How many blocks a reorganisation may take back without the chain being read anew. */
  readonly maxReorgDepth: number
  /** How long the record of a quote can be read. */
  readonly quoteRecordHours: number
  readonly corsOrigins: readonly string[]
  /** Proxies whose `X-Forwarded-For` is believed: a number of hops, or addresses and CIDRs. */
  readonly trustProxy: number | readonly string[]
  /** `user:password`; undefined leaves `/metrics` open. */
  readonly metricsAuth: string | undefined
  /** Host names and CIDRs that solver endpoints may have in spite of the rules of production. */
  readonly solverEndpointAllowlist: readonly string[]
  readonly logLevel: LogLevel
}

const MAX_COUNT = 1_000_000
const MAX_DEPOSIT_WINDOW_SECONDS = 86_400
const DAY_MS = 86_400_000

/** The process's environment, with what a file `.env` in the working directory adds to it. */
export function processEnvironment(): Environment {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return process.env
}

/**
 * Reads the configuration from environment variables.
 * @throws ConfigError with every mistake at once
 */
export function readConfig(environment: Environment): Config {
  const env = new EnvironmentReader(environment, DEFAULTS)
  const config: Config = {
    protocolName: readProtocolName(env),
    chains: readChains(env),
    host: env.required('HOST', 'an address to bind to'),
    port: env.integer('PORT', { min: 0, max: 65_535 }),
    dbPath: env.required('DB_PATH', 'a file path or :memory:'),
    production: env.optional('NODE_ENV') === 'production',
    quoteTimeoutMs: env.integer('QUOTE_TIMEOUT_MS', { min: 1, max: 60_000 }),
    defaultDepositWindowSeconds: env.integer('DEFAULT_DEPOSIT_WINDOW', {
      min: 1,
      max: MAX_DEPOSIT_WINDOW_SECONDS,
    }),
    defaultFillWindowSeconds: env.integer('DEFAULT_FILL_WINDOW', { min: 1, max: 30 * 86_400 }),
    minSolverBond: readAmount(env, 'MIN_SOLVER_BOND'),
    bondCheckIntervalMs: env.integer('BOND_CHECK_INTERVAL_MS', { min: 10, max: 30_000 }),
    maxSolversPerChain: env.integer('MAX_SOLVERS_PER_CHAIN', { min: 1, max: 10_000 }),
    maxQuoteFanOut: env.integer('MAX_QUOTE_FAN_OUT', { min: 1, max: 1000 }),
    rateLimits: readRateLimits(env),
    maxStreamClients: env.integer('MAX_STREAM_CLIENTS', { min: 1, max: MAX_COUNT }),
    eventRetentionDays: env.integer('EVENT_RETENTION_DAYS', { min: 1, max: 36_500 }),
    maxReorgDepth: env.integer('MAX_REORG_DEPTH', { min: 1, max: 10_000 }),
    quoteRecordHours: env.integer('QUOTE_RECORD_HOURS', { min: 1, max: 8784 }),
    corsOrigins: env.checkedList('CORS_ORIGINS', isOrigin, '* or origins such as https://app.example.org'),
    trustProxy: readTrustProxy(env),
    metricsAuth: readMetricsAuth(env),
    solverEndpointAllowlist: env.checkedList(
      'SOLVER_ENDPOINT_ALLOWLIST',
      (item) => isAddressOrCidr(item) || isHostName(item),
      'a host name, an IP address or a CIDR',
    ),
    logLevel: env.oneOf<LogLevel>('LOG_LEVEL', LOG_LEVELS),
  }
  env.assertValid()
  return config
}

function readProtocolName(env: EnvironmentReader): string {
  const name = env.required('PROTOCOL_NAME', 'a name')
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    env.refuse(
      'PROTOCOL_NAME',
      `is "${name}": it must be letters, digits and underscores, to name a Solidity struct`,
    )
  }
  return name
}

function readChains(env: EnvironmentReader): ChainConfig[] {
  const texts = env.list('SUPPORTED_CHAINS')
  if (texts.length === 0) {
    env.refuse('SUPPORTED_CHAINS', 'is missing: it must be the chain ids to serve, such as 1,8453')
    env.refuse('RPC_URL_<chainId>', 'is missing: it must be the JSON-RPC endpoint, for each supported chain')
    env.refuse(
      'SERVICE_ADDRESS_<chainId>',
      'is missing: it must be the settlement contract, for each supported chain',
    )
  }
  const chains: ChainConfig[] = []
  for (const text of texts) {
    const chainId = parseChainId(text)
    if (chainId === undefined) {
      env.refuse('SUPPORTED_CHAINS', `has "${text}": a chain id must be a decimal integer of 1 to 2^53-1`)
    } else if (chains.some((chain) => chain.chainId === chainId)) {
      env.refuse('SUPPORTED_CHAINS', `has ${chainId} twice`)
    } else {
      chains.push(readChain(env, chainId))
    }
  }
  return chains
}

function readChain(env: EnvironmentReader, chainId: number): ChainConfig {
  const rpcVariable = `RPC_URL_${chainId}`
  const rpcUrls = env.checkedList(rpcVariable, isRpcUrl, 'an http, https, ws or wss URL')
  if (rpcUrls.length === 0) {
    env.refuse(rpcVariable, 'is missing: it must be http or ws URLs of JSON-RPC endpoints, comma-separated')
  }

  const addressVariable = `SERVICE_ADDRESS_${chainId}`
  const addressText = env.required(addressVariable, "the settlement contract's address")
  const settlement = parseAddress(addressText)
  if (addressText !== '' && settlement === undefined) {
    env.refuse(addressVariable, `is "${addressText}": it must be a 20-byte address in hex with 0x`)
  }
  const pollIntervalMs = env.optionalInteger(`POLL_INTERVAL_MS_${chainId}`, { min: 10, max: DAY_MS })
  const confirmations = env.optionalInteger(`CONFIRMATIONS_${chainId}`, { min: 0, max: 10_000 })
  return {
    chainId,
    rpcUrls,
    settlement: settlement ?? '0x',
    pollIntervalMs: pollIntervalMs ?? CHAIN_DEFAULTS.POLL_INTERVAL_MS,
    startBlock: env.optionalInteger(`START_BLOCK_${chainId}`, { min: 0, max: Number.MAX_SAFE_INTEGER }),
    confirmations: confirmations ?? CHAIN_DEFAULTS.CONFIRMATIONS,
  }
}

function readRateLimits(env: EnvironmentReader): RateLimitConfig {
  const limit = (variable: string) => env.integer(variable, { min: 0, max: MAX_COUNT })
  return {
    max: limit('RATE_LIMIT_MAX'),
    windowMs: env.integer('RATE_LIMIT_WINDOW_MS', { min: 1, max: DAY_MS }),
    quote: limit('RATE_LIMIT_QUOTE'),
    order: limit('RATE_LIMIT_ORDER'),
    register: limit('RATE_LIMIT_REGISTER'),
    unregister: limit('RATE_LIMIT_UNREGISTER'),
    solvers: limit('RATE_LIMIT_SOLVERS'),
  }
}

function readAmount(env: EnvironmentReader, variable: string): bigint {
  const text = env.required(variable, 'an amount')
  const amount = parseUint256(text)
  if (amount === undefined) {
    env.refuse(variable, `is "${text}": it must be a decimal integer in the token's smallest unit`)
  }
  return amount ?? 0n
}

function readTrustProxy(env: EnvironmentReader): number | readonly string[] {
  const text = env.optional('TRUST_PROXY') ?? '0'
  if (/^[0-9]{1,2}$/.test(text)) return Number(text)
  return env.checkedList(
    'TRUST_PROXY',
    isAddressOrCidr,
    'a number of hops, or addresses and CIDRs of proxies',
  )
}

function readMetricsAuth(env: EnvironmentReader): string | undefined {
  const text = env.optional('METRICS_AUTH')
  if (text !== undefined && !/^[^:]+:.+$/.test(text)) env.refuse('METRICS_AUTH', 'must be user:password')
  return text
}

function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text)
}

function isRpcUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:', 'ws:', 'wss:'].includes(new URL(text).protocol)
}

/** ipaddr.js alone would take `100` for an address, and so a number of hops too many for one. */
function isAddressOrCidr(text: string): boolean {
  const [address = ''] = text.split('/')
  return isIP(address) !== 0 && (ipaddr.isValid(text) || ipaddr.isValidCIDR(text))
}

function isHostName(text: string): boolean {
  return /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(text)
}
