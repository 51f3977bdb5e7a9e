/**
 * The sockets of a flood of replays, in a process of their own, so that they take nothing from the measured
 * callers.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** The arguments of the process, as JSON. */
export interface FlooderOptions {
  /** One for each socket. */
  readonly urls: readonly string[]
  /** The number of addresses of the sockets, from 127.0.0.2 on. */
  readonly addresses: number
  /** The interval at which each socket starts again. */
  readonly reopenMs: number
}

const options: FlooderOptions = JSON.parse(process.argv[2] ?? '')

async function flood(url: string, index: number): Promise<void> {
  const { urls, addresses, reopenMs } = options
  const localAddress = `127.0.0.${2 + (index % addresses)}`
  await delay((index * reopenMs) / urls.length)
  for (;;) {
    const socket = new WebSocket(url, { localAddress })
    // The benchmark detects a service that has ended.
    socket.on('error', () => {})
    await delay(reopenMs)
    socket.terminate()
  }
}

// The parent process has ended.
process.stdin.on('end', () => process.exit()).resume()
process.stdout.write('flooding\n')
await Promise.all(options.urls.map(flood))
