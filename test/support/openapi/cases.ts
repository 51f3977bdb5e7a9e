import type { Asker } from './exchanges.js'
import type { OpenApiFixture } from './fixture.js'

export const QUOTE = 'POST /v1/{chainId}/quote'
export const PRICE = 'POST /v1/{chainId}/price'
export const STREAM = 'POST /v1/{chainId}/quote/stream'
export const CHECK = 'POST /v1/{chainId}/offers/check'
export const RECORD = 'GET /v1/{chainId}/quote/{quoteId}'
export const REGISTER = 'POST /v1/{chainId}/solvers/register'
export const UNREGISTER = 'DELETE /v1/{chainId}/solvers/{address}'
export const LIST = 'GET /v1/{chainId}/solvers'
export const STATS = 'GET /v1/{chainId}/solvers/stats'
export const SOLVER_STATS = 'GET /v1/{chainId}/solvers/{address}/stats'
export const RESULTS = 'POST /v1/{chainId}/solvers/{address}/results'
export const ORDER = 'GET /v1/{chainId}/order/{orderId}'
export const ORDERS = 'GET /v1/{chainId}/orders'
export const EVENTS = 'GET /v1/events'
export const SOCKET = 'GET /v1/ws'
export const CHAINS = 'GET /v1/chains'
export const TOKENS = 'GET /v1/{chainId}/tokens'
export const PAIRS = 'GET /v1/{chainId}/pairs'

export const READY = 'GET /health/ready'

export const UNKNOWN_ORDER = `0x${'cd'.repeat(32)}`
export const UNKNOWN_QUOTE = '00000000-0000-4000-8000-000000000000'
export const TOO_LONG = JSON.stringify({ amount: '1'.repeat(65_536) })
export const BAD_TIMEOUT = { 'connect-timeout-ms': 'soon' }

/** What makes responses. */
export interface Run extends OpenApiFixture, Pick<Asker, 'ask' | 'keep'> {
  readonly chainId: number
}
