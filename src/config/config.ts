import { existsSync, readFileSync, statSync } from 'node:fs'
import { parseEnv } from 'node:util'
import {
  DEPOSIT_WINDOW,
  MAX_PORT,
  MAX_QUOTE_TIMEOUT_MS,
  PROTOCOL_NAME,
} from '../../packages/protocol/src/field-rules.js'
import { VERIFY_MODES, type VerifyMode } from '../../packages/protocol/src/quotes/verification.js'
import { DISPLAY_NAME, isDisplayName } from '../../packages/protocol/src/values/display-name.js'
import { isTextOf, parseUint256 } from '../../packages/protocol/src/values/text.js'
import { DAY_SECONDS } from '../../packages/protocol/src/values/time.js'
import {
  readCorsOrigins,
  readEndpointAllowlist,
  readMetricsAuth,
  readPublicUrls,
  readReplicaAccess,
  readTrustProxy,
} from './access.js'
import { type ChainConfig, readChains } from './chains.js'
import { readDatabaseLocation } from './database-url.js'
import { ConfigError, type Environment, EnvironmentReader } from './environment.js'
import { readConsoleLogo } from './image.js'
import {
  MAX_COUNT,
  type RateLimitConfig,
  type RateLimitStore,
  readRateLimitStore,
  readRateLimits,
  readRequireApiKey,
} from './rate-limits.js'
import { readTraces } from './traces.js'
import { DEFAULTS } from './variables.js'

export type { ChainConfig, RateLimitConfig, RateLimitStore }

/** The configuration of an instance. */
export type Config = Readonly<ReturnType<typeof readConfig>>

/** The levels that LOG_LEVEL takes. */
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

const MAX_RECORD_MB = 1_000_000

/**
 * Returns the process's environment with the variables of a file `.env` in the working directory.
 * @throws ConfigError when `.env` cannot be read
 */
export function processEnvironment(): Environment {
  try {
    // Editors of Windows begin a file with a byte order mark.
    const text = existsSync('.env') ? readFileSync('.env', 'utf8').replace(/^\ufeff/, '') : ''
    return { ...parseEnv(text), ...process.env }
  } catch (error) {
    const reason = statSync('.env').isDirectory() ? 'it is a folder' : (error as Error).message
    const message = `in ${process.cwd()} cannot be read: ${reason}. It must be a file with lines NAME=value`
    throw new ConfigError([{ variable: '.env', message }])
  }
}

/**
 * Reads the configuration from environment variables.
 * @throws ConfigError with every mistake at once
 */
export function readConfig(environment: Environment) {
  const env = new EnvironmentReader(environment, DEFAULTS)
  const database = readDatabaseLocation(env)
  const quoteTimeoutMs = env.integer('QUOTE_TIMEOUT_MS', { min: 1, max: MAX_QUOTE_TIMEOUT_MS })
  const config = {
    protocolName: readProtocolName(env),
    chains: readChains(env),
    host: env.required('HOST', 'an address to bind to'),
    port: env.integer('PORT', { min: 0, max: MAX_PORT }),
    ...database,
    /** Whether solver endpoints must be HTTPS on public addresses. */
    production: readIsProduction(env),
    quoteTimeoutMs,
    /** The soft deadline of quotes and prices whose request names none; 0 is none (docs/decisions.md, D30). */
    quoteSoftTimeoutMs: readSoftTimeout(env, quoteTimeoutMs),
    /** How long equal requests for a price get the same answer; with 0 they only share an auction under way. */
    priceCacheMs: env.integer('PRICE_CACHE_MS', { min: 0, max: 60_000 }),
    ...readVerification(env),
    defaultDepositWindowSeconds: env.integer('DEFAULT_DEPOSIT_WINDOW', {
      min: DEPOSIT_WINDOW.minimum,
      max: DEPOSIT_WINDOW.maximum,
    }),
    defaultFillWindowSeconds: env.integer('DEFAULT_FILL_WINDOW', { min: 1, max: 30 * DAY_SECONDS }),
    /** In the bond token's smallest unit. */
    minSolverBond: readAmount(env, 'MIN_SOLVER_BOND'),
    /** Interval at which every solver's bond is read, in addition to reads after the chain's events. */
    bondCheckIntervalMs: env.integer('BOND_CHECK_INTERVAL_MS', { min: 10, max: 30_000 }),
    maxSolversPerChain: env.integer('MAX_SOLVERS_PER_CHAIN', { min: 1, max: 10_000 }),
    /** How long a solver without a sufficient bond keeps its place when a new solver needs it. */
    unbondedGraceMs: env.integer('UNBONDED_GRACE_SECONDS', { min: 0, max: DAY_SECONDS }) * 1000,
    maxQuoteFanOut: env.integer('MAX_QUOTE_FAN_OUT', { min: 1, max: 1000 }),
    /** The most connections to one solver endpoint. Each carries one request at a time. */
    maxConnectionsPerSolver: env.integer('MAX_CONNECTIONS_PER_SOLVER', { min: 1, max: 65_535 }),
    rateLimits: readRateLimits(env),
    requireApiKey: readRequireApiKey(env),
    rateLimitStore: readRateLimitStore(env, database.databaseUrl),
    /** The most connections of one address, for an instance without a proxy; 0 is no limit. */
    maxConnectionsPerIp: env.integer('MAX_CONNECTIONS_PER_IP', { min: 0, max: MAX_COUNT }),
    maxStreamClients: env.integer('MAX_STREAM_CLIENTS', { min: 1, max: MAX_COUNT }),
    /** The most streams of one client at a time; 0 is no limit. */
    maxStreamClientsPerIp: env.integer('MAX_STREAM_CLIENTS_PER_IP', { min: 0, max: MAX_COUNT }),
    /** How long events are stored for replays. */
    eventRetentionDays: env.integer('EVENT_RETENTION_DAYS', { min: 1, max: 36_500 }),
    /** The most blocks that a reorganisation can remove without a new read of the chain. */
    maxReorgDepth: env.integer('MAX_REORG_DEPTH', { min: 1, max: 10_000 }),
    /** How long the record of a quote is stored; 0 stores none. */
    quoteRecordHours: env.integer('QUOTE_RECORD_HOURS', { min: 0, max: 8784 }),
    /** Limit of the size of all records together. */
    quoteRecordMaxBytes: env.integer('QUOTE_RECORD_MAX_MB', { min: 1, max: MAX_RECORD_MB }) * 2 ** 20,
    corsOrigins: readCorsOrigins(env),
    /** Proxies whose `X-Forwarded-For` is trusted: a number of hops, or addresses and CIDRs. */
    trustProxy: readTrustProxy(env),
    /** Whether only addresses on the operator's list of allowed ones may register (docs/decisions.md, D26). */
    solverAllowlist: env.oneOf('SOLVER_ALLOWLIST', ['true', 'false']) === 'true',
    /** Whether solvers may connect instead of exposing an endpoint (docs/decisions.md, D18). */
    solverSessions: env.oneOf('SOLVER_SESSIONS', ['true', 'false']) === 'true',
    /** Origins by which clients reach the instance, such as `https://quotes.example`. A session names one of them. */
    publicUrls: readPublicUrls(env),
    /** How the other replicas ask this one; undefined when they cannot (docs/decisions.md, D18). */
    replicaAccess: readReplicaAccess(env, database),
    /** `user:password`; undefined leaves `/metrics` open. */
    metricsAuth: readMetricsAuth(env),
    /** Whether the web console is served at `/` (docs/decisions.md, D21). */
    console: env.oneOf('CONSOLE', ['true', 'false']) === 'true',
    /** The operator's name on the console. */
    consoleName: readConsoleName(env),
    consoleLogo: readConsoleLogo(env),
    consoleNotice: readConsoleNotice(env),
    /** Host names and CIDRs of solver endpoints that are exempt from the rules of production. */
    solverEndpointAllowlist: readEndpointAllowlist(env),
    logLevel: env.oneOf<LogLevel>('LOG_LEVEL', LOG_LEVELS),
    /** Share of requests that are logged, 0 to 1. Failed and slow requests are always logged. */
    logRequestSample: env.share('LOG_REQUEST_SAMPLE'),
    /** Where traces go; undefined when there are none (docs/decisions.md, D35). */
    traces: readTraces(env),
    /** What is left out, to be said at the start. */
    warnings: env.warnings,
  }
  env.assertValid()
  return config
}

/** Its default is never above the timeout of quotes; a value that is set must not be. */
function readSoftTimeout(env: EnvironmentReader, quoteTimeoutMs: number): number {
  const isSet = env.hasAny(/^QUOTE_SOFT_TIMEOUT_MS$/)
  if (!isSet) return Math.min(Number(DEFAULTS.QUOTE_SOFT_TIMEOUT_MS), quoteTimeoutMs)
  return env.integer('QUOTE_SOFT_TIMEOUT_MS', { min: 0, max: quoteTimeoutMs })
}

function readProtocolName(env: EnvironmentReader): string {
  const name = env.required('PROTOCOL_NAME', 'a name')
  if (!PROTOCOL_NAME.pattern.test(name))
    env.refuse('PROTOCOL_NAME', `is "${name}": it ${PROTOCOL_NAME.mustBe}`)
  return name
}

const NOTICE = { ...DISPLAY_NAME, maxLength: 280, mustBe: 'must be a line of 1 to 280 visible characters' }

function readConsoleName(env: EnvironmentReader): string {
  const name = env.required('CONSOLE_NAME', 'a name')
  if (!isDisplayName(name)) env.refuse('CONSOLE_NAME', `is "${name}": it ${DISPLAY_NAME.mustBe}`)
  return name
}

function readConsoleNotice(env: EnvironmentReader): string | undefined {
  const notice = env.optional('CONSOLE_NOTICE')
  if (notice !== undefined && !isTextOf(NOTICE, notice))
    env.refuse('CONSOLE_NOTICE', `is "${notice}": it ${NOTICE.mustBe}`)
  return notice
}

function readAmount(env: EnvironmentReader, variable: string): bigint {
  const text = env.required(variable, 'an amount')
  const amount = parseUint256(text)
  if (amount === undefined) {
    env.refuse(variable, `is "${text}": it must be a decimal integer in the token's smallest unit`)
  }
  return amount ?? 0n
}

/** Rejects a misspelt value, which would turn off the rules of production, such as those for solver endpoints. */
function readIsProduction(env: EnvironmentReader): boolean {
  const mode = env.optional('NODE_ENV') ?? 'development'
  if (!['production', 'development', 'test'].includes(mode))
    env.refuse('NODE_ENV', `is "${mode}": it must be production, development or test`)
  return mode === 'production'
}

/** Reads which offers the settlement contract checks (docs/decisions.md, D13). */
function readVerification(env: EnvironmentReader) {
  const verifyQuotes = env.oneOf<VerifyMode>('VERIFY_QUOTES', VERIFY_MODES)
  const verifyMax = env.oneOf<VerifyMode>('VERIFY_MAX', VERIFY_MODES)
  const isMaxValid = verifyMax === env.optional('VERIFY_MAX')
  if (isMaxValid && VERIFY_MODES.indexOf(verifyQuotes) > VERIFY_MODES.indexOf(verifyMax))
    env.refuse('VERIFY_QUOTES', `is ${verifyQuotes}: it must not exceed VERIFY_MAX, which is ${verifyMax}`)
  const verifyTimeoutMs = env.integer('VERIFY_TIMEOUT_MS', { min: 1, max: MAX_QUOTE_TIMEOUT_MS })
  return {
    /** The offers that the settlement contract checks when a request does not say. */
    verifyQuotes,
    /** The most that a request may ask for. */
    verifyMax,
    /** The longest time of all checks of a quote. */
    verifyTimeoutMs,
  }
}
