import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import WebSocket from 'ws'
import type { Benchmark, Row } from './benchmark.js'
import { startBuiltService } from './built-service.js'
import { type ChattyChain, onChattyChain } from './chatty-chain.js'
import { quantile } from './load.js'

const SAMPLES = 25
const MAX_PAUSE_MS = 700
const MAX_WAIT_MS = 30_000

/** A way to learn of blocks. */
interface Way {
  readonly way: string
  readonly url: string
  readonly intervalMs: number
}

/** How soon an event reaches a WebSocket client, by the way in which the service learns of blocks. */
export const events: Benchmark = {
  name: 'events',
  about:
    'Time from sending a transaction, whose block is mined at once, to the message at a WebSocket client.',
  collectMetrics: () =>
    onChattyChain(async (chain) => {
      const rpc = chain.devnet.rpcUrl
      const ways: Way[] = [
        { way: 'RPC polled every 1000 ms', url: rpc, intervalMs: 1000 },
        { way: 'RPC polled every 100 ms', url: rpc, intervalMs: 100 },
        { way: 'RPC by WebSocket', url: rpc.replace('http', 'ws'), intervalMs: 1000 },
      ]
      const rows: Row[] = []
      for (const [index, way] of ways.entries()) {
        const latencies = await measureWay(chain, way, index * SAMPLES)
        rows.push({
          way: way.way,
          samples: SAMPLES,
          'median ms': oneDecimal(quantile(latencies, 0.5)),
          'p99 ms': oneDecimal(quantile(latencies, 0.99)),
        })
      }
      return { rows, findings: [] }
    }),
}

/** @param seed different seeds make different orders; each sample adds 1 to it */
async function measureWay(chain: ChattyChain, { url, intervalMs }: Way, seed: number): Promise<number[]> {
  const service = await startBuiltService(chain, {
    [`RPC_URL_${chain.chainId}`]: url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: String(intervalMs),
  })
  try {
    const socket = new WebSocket(service.socketUrl)
    await nextMessage(socket)
    const latencies: number[] = []
    for (let sample = 0; sample < SAMPLES; sample++) {
      // So that the blocks are independent of the polls.
      await delay(Math.random() * MAX_PAUSE_MS)
      const start = performance.now()
      const message = nextMessage(socket)
      await Promise.all([message, chain.emitEvents({ events: 1, seed: seed + sample })])
      latencies.push((await message) - start)
    }
    socket.terminate()
    return latencies
  } finally {
    await service.stop()
  }
}

/** @returns the time when it came */
async function nextMessage(socket: WebSocket): Promise<number> {
  await once(socket, 'message', { signal: AbortSignal.timeout(MAX_WAIT_MS) })
  return performance.now()
}

function oneDecimal(value: number): number {
  return Math.round(value * 10) / 10
}
