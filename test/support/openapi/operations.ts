/** Operations as the document names them. */
export const OF = {
  quote: 'POST /v1/{chainId}/quote',
  price: 'POST /v1/{chainId}/price',
  stream: 'POST /v1/{chainId}/quote/stream',
  check: 'POST /v1/{chainId}/offers/check',
  record: 'GET /v1/{chainId}/quote/{quoteId}',
  register: 'POST /v1/{chainId}/solvers/register',
  unregister: 'DELETE /v1/{chainId}/solvers/{address}',
  solvers: 'GET /v1/{chainId}/solvers',
  stats: 'GET /v1/{chainId}/solvers/stats',
  solverStats: 'GET /v1/{chainId}/solvers/{address}/stats',
  results: 'POST /v1/{chainId}/solvers/{address}/results',
  order: 'GET /v1/{chainId}/order/{orderId}',
  orders: 'GET /v1/{chainId}/orders',
  tokens: 'GET /v1/{chainId}/tokens',
  pairs: 'GET /v1/{chainId}/pairs',
  chains: 'GET /v1/chains',
  events: 'GET /v1/events',
  socket: 'GET /v1/ws',
} as const

export const [HEALTH, READY, METRICS] = ['GET /health', 'GET /health/ready', 'GET /metrics'] as const
