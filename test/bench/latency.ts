import { once } from 'node:events'
import WebSocket from 'ws'
import { startBuiltService } from './built-service.js'
import { quantile } from './load.js'
import { startLoudChain } from './loud-chain.js'

const SAMPLES = 25
const MAX_PAUSE_MS = 700

/** From sending the transaction, whose block is mined at once, to the message at a WebSocket client. */
export async function measureLatency(): Promise<object[]> {
  const chain = await startLoudChain()
  const rpc = chain.devnet.rpcUrl
  const ways = [
    { way: 'RPC polled every 1000 ms', url: rpc, intervalMs: 1000 },
    { way: 'RPC polled every 100 ms', url: rpc, intervalMs: 100 },
    { way: 'RPC by WebSocket', url: rpc.replace('http', 'ws'), intervalMs: 1000 },
  ]
  const rows: object[] = []
  let seed = 0
  for (const { way, url, intervalMs } of ways) {
    const service = await startBuiltService(chain, {
      [`RPC_URL_${chain.chainId}`]: url,
      [`POLL_INTERVAL_MS_${chain.chainId}`]: String(intervalMs),
    })
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/ws`)
    await once(socket, 'message')
    const latencies: number[] = []
    for (let sample = 0; sample < SAMPLES; sample++) {
      // So that the blocks have nothing to do with the polls.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE_MS))
      const start = performance.now()
      const message = once(socket, 'message')
      await chain.shout({ events: 1, seed: ++seed })
      await message
      latencies.push(performance.now() - start)
    }
    rows.push({
      way,
      samples: SAMPLES,
      'median ms': quantile(latencies, 0.5),
      'p99 ms': quantile(latencies, 0.99),
    })
    socket.terminate()
    await service.stop()
  }
  await chain.stop()
  return rows
}
