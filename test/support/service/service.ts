import { pino } from 'pino'
import { type AppOverrides, createApp } from '../../../src/app/app.js'
import { readConfig } from '../../../src/config/config.js'
import type { TestChain } from '../chain/chain.js'
import { eventually } from '../eventually.js'
import { type Labels, readMetrics } from './metrics.js'

export type TestService = Awaited<ReturnType<typeof startService>>

const NO_LIMITS = {
  RATE_LIMIT_MAX: '0',
  RATE_LIMIT_QUOTE: '0',
  RATE_LIMIT_PRICE: '0',
  RATE_LIMIT_ORDER: '0',
  RATE_LIMIT_REGISTER: '0',
  RATE_LIMIT_UNREGISTER: '0',
  RATE_LIMIT_SOLVERS: '0',
  RATE_LIMIT_RESULTS: '0',
  RATE_LIMIT_STREAMS: '0',
  RATE_LIMIT_SESSIONS: '0',
  MAX_STREAM_CLIENTS_PER_IP: '0',
}

/** No answer is late on a busy machine. A test with a solver that never answers sets shorter ones. */
const LONG_TIMEOUTS = {
  QUOTE_TIMEOUT_MS: '20000',
  QUOTE_SOFT_TIMEOUT_MS: '0',
  VERIFY_TIMEOUT_MS: '20000',
}

/** What a service must know of a chain. */
type Chain = Pick<TestChain, 'chainId' | 'devnet' | 'contracts'>

/** The variables that serve chains on a free port of 127.0.0.1, without limits and without a file. */
export function environmentFor(...chains: readonly Chain[]): Record<string, string> {
  const ofChains = chains.map(({ chainId, devnet, contracts }) => ({
    [`RPC_URL_${chainId}`]: devnet.rpcUrl,
    [`SERVICE_ADDRESS_${chainId}`]: contracts.settlement,
  }))
  return {
    SUPPORTED_CHAINS: chains.map(({ chainId }) => chainId).join(','),
    ...Object.assign({}, ...ofChains),
    HOST: '127.0.0.1',
    PORT: '0',
    DB_PATH: ':memory:',
    ...NO_LIMITS,
    ...LONG_TIMEOUTS,
  }
}

/** A running service of one chain or several, which it polls often, with a client for its REST paths. */
export async function startService(
  chain: Chain | readonly Chain[],
  environment: Record<string, string> = {},
  overrides: AppOverrides = {},
) {
  const chains = [chain].flat()
  const intervals = chains.map(({ chainId }) => [`POLL_INTERVAL_MS_${chainId}`, '50'])
  const variables = { ...environmentFor(...chains), ...Object.fromEntries(intervals), ...environment }
  const app = await createApp(readConfig(variables), { log: pino({ level: 'silent' }), ...overrides })

  return {
    ...sendTo(app.url),
    close: app.close,
    /** The sum of the series of a metric that have these labels. */
    metric: async (name: string, labels: Labels): Promise<number> =>
      (await readMetrics(app.url)).sum(name, labels),
    /** Waits until it has read the contract of each chain, so that it quotes from the first request on. */
    async ready(): Promise<void> {
      // A connection that is kept would count as one of the service.
      const list = () =>
        sendTo(app.url).send('GET', '/v1/chains', undefined, { headers: { connection: 'close' } })
      await eventually(list, ({ body }) => body.chains.every((one: { domain?: object }) => one.domain))
    },
  }
}

/** A client for the REST paths of a service. */
export function sendTo(url: string) {
  async function send(verb: string, path: string, body?: unknown, init: RequestInit = {}) {
    const response = await fetch(`${url}${path}`, {
      method: verb,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...init,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...init.headers },
    })
    return { status: response.status, headers: response.headers, body: await readBody(response) }
  }

  return {
    url,
    send,
    get: (path: string) => send('GET', path),
    post: (path: string, body: unknown, init?: RequestInit) => send('POST', path, body, init),
    delete: (path: string, body: unknown) => send('DELETE', path, body),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
async function readBody(response: Response): Promise<any> {
  const text = await response.text()
  return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text
}
