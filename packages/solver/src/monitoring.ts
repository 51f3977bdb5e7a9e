import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { SolverMetrics } from './metrics.js'

/** All others only grow. */
const GAUGES: readonly string[] = [
  'openQuotes',
  'openOrders',
  'sessionOpen',
] satisfies (keyof SolverMetrics)[]

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
    if (url === '/metrics') send(response, 200, 'text/plain; version=0.0.4', toText(metrics()))
    else if (url === '/health') {
      const found = problems()
      send(response, found.length === 0 ? 200 : 503, 'application/json', JSON.stringify({ problems: found }))
    } else send(response, 404, 'text/plain', 'there are /metrics and /health')
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

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(text)
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
