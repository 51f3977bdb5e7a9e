/** The defaults of all variables that have one (docs/protocol.md, "Limits and defaults"; docs/decisions.md, D12). */
export const DEFAULTS = {
  PROTOCOL_NAME: 'Service',
  PORT: '3000',
  HOST: '0.0.0.0',
  DB_PATH: './service-api.db',
  QUOTE_TIMEOUT_MS: '2000',
  QUOTE_SOFT_TIMEOUT_MS: '0',
  DEFAULT_DEPOSIT_WINDOW: '300',
  DEFAULT_FILL_WINDOW: '120',
  MIN_SOLVER_BOND: '1000000000',
  BOND_CHECK_INTERVAL_MS: '30000',
  MAX_SOLVERS_PER_CHAIN: '50',
  UNBONDED_GRACE_SECONDS: '3600',
  MAX_QUOTE_FAN_OUT: '10',
  MAX_CONNECTIONS_PER_SOLVER: '1024',
  RATE_LIMIT_MAX: '100',
  RATE_LIMIT_WINDOW_MS: '60000',
  RATE_LIMIT_QUOTE: '30',
  RATE_LIMIT_ORDER: '60',
  RATE_LIMIT_REGISTER: '5',
  RATE_LIMIT_UNREGISTER: '10',
  RATE_LIMIT_SOLVERS: '60',
  RATE_LIMIT_STREAMS: '300',
  MAX_STREAM_CLIENTS: '10000',
  MAX_STREAM_CLIENTS_PER_IP: '100',
  EVENT_RETENTION_DAYS: '30',
  MAX_REORG_DEPTH: '256',
  QUOTE_RECORD_HOURS: '24',
  QUOTE_RECORD_MAX_MB: '1024',
  CORS_ORIGINS: '*',
  LOG_LEVEL: 'info',
  LOG_REQUEST_SAMPLE: '1',
} as const

/** The variables without a default. SUPPORTED_CHAINS is required, the others are optional. */
export const OPTIONAL_VARIABLES = [
  'SUPPORTED_CHAINS',
  'NODE_ENV',
  'DATABASE_URL',
  'RATE_LIMIT_STORE',
  'TRUST_PROXY',
  'METRICS_AUTH',
  'SOLVER_ENDPOINT_ALLOWLIST',
] as const

/** The required variables of one chain, without the suffix `_<chainId>`. */
export const CHAIN_VARIABLES = ['RPC_URL', 'SERVICE_ADDRESS'] as const
export const OPTIONAL_CHAIN_VARIABLES = ['START_BLOCK', 'DESTINATION_CHAINS'] as const
export const CHAIN_DEFAULTS = { POLL_INTERVAL_MS: 1000, CONFIRMATIONS: 0, RECHECK_BLOCKS: 32 } as const
