import { once } from 'node:events'
import { createServer } from 'node:http'
import type { SolverMetrics } from './metrics.js'

/** All others only grow. */
const GAUGES = ['openQuotes', 'openOrders', 'sessionOpen']

/**
 * Serves `GET /metrics` in the text format of Prometheus, and `GET /health`: 200 when the solver quotes on all of its chains, else 503,
 * with the reasons.
 * @param problems why the solver does not quote at present: nothing when it does
 * @returns closes the port
 * @throws Error for a port that cannot be opened
 */
export async function startMonitoring(
  port: number,
  host: string,
  metrics: () => SolverMetrics,
  problems: () => readonly string[],
): Promise<() => Promise<void>> {
  const server = createServer(({ url }, response) => {
    const send = (status: number, type: string, text: string) =>
      response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(text)
    if (url === '/metrics') return send(200, 'text/plain; version=0.0.4', toText(metrics()))
    if (url !== '/health') return send(404, 'text/plain', 'there are /metrics and /health')
    const found = problems()
    return send(found.length === 0 ? 200 : 503, 'application/json', JSON.stringify({ problems: found }))
  })
  server.listen(port, host)
  await once(server, 'listening').catch((error) => {
    throw new Error(`metricsPort cannot be opened: ${error.message}`)
  })
  return async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
}

/** Names in the form of Prometheus, such as `solver_fees_raised_total`. */
function toText({ feesWei, ...counts }: SolverMetrics): string {
  const lines = Object.entries(counts).map(([key, value]) => {
    const isGauge = GAUGES.includes(key)
    const words = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const name = `solver_${words}${isGauge ? '' : '_total'}`
    return `# TYPE ${name} ${isGauge ? 'gauge' : 'counter'}\n${name} ${value}\n`
  })
  const fees = Object.entries(feesWei).flatMap(([chain, costs]) =>
    Object.entries(costs).map(
      ([purpose, wei]) => `solver_fees_wei_total{chain="${chain}",purpose="${purpose}"} ${wei}\n`,
    ),
  )
  return [...lines, '# TYPE solver_fees_wei_total counter\n', ...fees].join('')
}
