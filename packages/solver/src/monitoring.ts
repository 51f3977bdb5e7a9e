import { once } from 'node:events'
import { createServer } from 'node:http'
import type { MinedTransaction } from './orders/order-terms.js'

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

/** By chain and purpose, in wei: a number is as exact as metrics need. */
type Fees = Record<number, Partial<Record<MinedTransaction['purpose'], number>>>

/** Counts since the start, as plain numbers. */
export type SolverMetrics = ReturnType<typeof createMetrics>

/** All 0. */
export function createMetrics() {
  return {
    /** Requests for quotes and prices, and those for prices among them. */
    requests: 0,
    requestsForPrices: 0,
    /** Offers that were sent. */
    quoted: 0,
    /** Declines, with those for liquidity and errors. */
    declined: 0,
    /** Declines since `quote` has thrown, has returned no amount, or has not answered in time. */
    quotesFailed: 0,
    /** Declines because the balance, the allowance or the free bond would not have covered the quote. */
    declinedForLiquidity: 0,
    /** Offers that the instance did not take: results INVALID, LATE and SOFT_DEADLINE of sessions. */
    offersDropped: 0,
    /** Results of a session: valid offers, the best ones among them, and requests that ended without the solver's answer. */
    offersValid: 0,
    offersBest: 0,
    requestsCancelled: 0,
    /** Results of a session: requests that failed on the way, and those that no quote waited for. */
    requestsFailed: 0,
    requestsCircuitOpen: 0,
    /** Sessions that were opened, and that were lost or refused. */
    sessionsOpened: 0,
    sessionsLost: 0,
    /** Deposits that were found. */
    deposits: 0,
    /** Payments that were sent, and that reverted. */
    paymentsSent: 0,
    paymentsReverted: 0,
    /** Attempts with higher fees, of all transactions that waited. */
    feesRaised: 0,
    /** Orders that were paid, and that were not paid in time, with those of untaken quotes that have cost bond. */
    filled: 0,
    missed: 0,
    /** What transactions have cost. */
    feesWei: {} as Fees,
    /** Errors after which the solver goes on. */
    errors: 0,
    /** Not counts: signed quotes that may still be taken, orders that are to be paid, and 1 while a session is open. */
    openQuotes: 0,
    openOrders: 0,
    sessionOpen: 0,
  }
}
