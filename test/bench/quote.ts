import { type PreparedRequest, postJson, restCaller } from './callers.js'
import { type Contestant, compete } from './load.js'
import { startMarket, startTypeScript } from './market.js'

const SOLVERS = [1, 2, 5, 10, 20, 50]
const CONNECTIONS = 16
const ROUNDS = { rounds: 4, seconds: 1.5 }

/** Quotes by number of solvers, beside a bare server that asks the same solvers. */
export async function measureQuote() {
  const market = await startMarket(50)
  const service = await market.startService({ MAX_QUOTE_FAN_OUT: '50', MAX_SOLVERS_PER_CHAIN: '50' })
  const bare = startTypeScript('test/bench/bare-quote-server.ts', JSON.stringify(market.endpoints))
  const [, barePort] = await bare.waitFor(/listening (\d+)/)
  const bareUrl = `http://127.0.0.1:${barePort}`
  const body = market.quoteRequest
  const rows: object[] = []
  let registered = 0
  for (const solvers of SOLVERS) {
    await market.register(service.url, registered, solvers)
    registered = solvers
    const requests = {
      limit: { url: `${bareUrl}/?solvers=${solvers}`, body },
      service: { url: `${service.url}/v1/${market.chain.chainId}/quote`, body },
    }
    for (const request of Object.values(requests)) {
      const { alternativeQuotes } = await postJson(request.url, body)
      if (alternativeQuotes.length !== solvers - 1) throw new Error(`${alternativeQuotes.length + 1} offers`)
    }
    for (const connections of [1, CONNECTIONS]) {
      const cpu = {
        limit: async () => Number(await (await fetch(bareUrl)).text()),
        service: service.cpuSeconds,
      }
      const contestants = {
        limit: { callers: callers(requests.limit, connections), cpuSeconds: cpu.limit },
        service: { callers: callers(requests.service, connections), cpuSeconds: cpu.service },
      }
      const scores = await compete(contestants, ROUNDS)
      for (const { callers } of Object.values<Contestant>(contestants))
        for (const c of callers) await c.close()
      for (const [name, score] of Object.entries(scores))
        rows.push({
          solvers,
          connections,
          name,
          ...score,
          ratio: score.perSecond / scores.limit.perSecond,
          cpuRatio: score.cpuMs / scores.limit.cpuMs,
          latRatio: score.median / scores.limit.median,
        })
      console.table(rows.slice(-2))
    }
  }
  await service.stop()
  bare.signal('SIGTERM')
  await bare.exited
  await market.stop()
  return rows
}

function callers(request: PreparedRequest, connections: number) {
  return Array.from({ length: connections }, () => restCaller(request))
}
