/**
 * The sockets of a flood of replays, in a process of their own, so that they take nothing from the callers that are measured.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** What the process is started with, as JSON. */
export interface FlooderOptions {
  /** One for each socket. */
  readonly urls: readonly string[]
  /** How many of the addresses from 127.0.0.2 on the sockets come from. */
  readonly addresses: number
  /** How often each socket begins again. */
  readonly reopenMs: number
}

const options: FlooderOptions = JSON.parse(process.argv[2] ?? '')

async function flood(url: string, index: number): Promise<void> {
  const { urls, addresses, reopenMs } = options
  const localAddress = `127.0.0.${2 + (index % addresses)}`
  await delay((index * reopenMs) / urls.length)
  for (;;) {
    const socket = new WebSocket(url, { localAddress })
    // A service that has ended shows in the benchmark.
    socket.on('error', () => {})
    await delay(reopenMs)
    socket.terminate()
  }
}

// Whoever started it is gone.
process.stdin.on('end', () => process.exit()).resume()
process.stdout.write('flooding\n')
await Promise.all(options.urls.map(flood))
