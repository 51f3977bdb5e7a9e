import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestChain } from '../test/support/chain/chain.js'
import { freePort } from '../test/support/free-port.js'
import { startChild } from '../test/support/process/child-process.js'
import { readMetrics } from '../test/support/service/metrics.js'
import { environmentFor } from '../test/support/service/service.js'

const LIMITS = ['MAX', 'QUOTE', 'ORDER', 'REGISTER', 'UNREGISTER', 'SOLVERS', 'STREAMS', 'SESSIONS']
const limitsOf = (limit: string) => Object.fromEntries(LIMITS.map((name) => [`RATE_LIMIT_${name}`, limit]))
/** Limits that count every request, with the largest values. */
const WIDE_LIMITS = { ...limitsOf('1000000'), MAX_STREAM_CLIENTS_PER_IP: '1000000' }
/** The flags of Node with which `npm start`, the image and the systemd unit run the service. */
export const SERVICE_FLAGS = startCommand().split(' ').slice(2, -1)
/** Nothing is counted. */
export const NO_LIMITS = limitsOf('0')

export type BuiltService = Awaited<ReturnType<typeof startBuiltService>>

/** The built service in a process of its own, with limits that count, a log, and its database in files. */
export async function startBuiltService(
  chain: Pick<TestChain, 'chainId' | 'devnet' | 'contracts'>,
  environment: Record<string, string> = {},
) {
  // Below the level `info`, the log does not have the port of the service.
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  const dbPath = join(folder, 'service.db')
  const child = startChild(process.execPath, [...SERVICE_FLAGS, 'dist/main.js'], {
    ...environmentFor(chain),
    ...WIDE_LIMITS,
    PORT: String(port),
    DB_PATH: dbPath,
    ...environment,
  })
  const url = `http://127.0.0.1:${port}`
  await untilHealthy(url, child.exited)

  /** The value of a metric with one series. */
  const metric = async (name: string): Promise<number> => (await readMetrics(url)).value(name) ?? Number.NaN

  return {
    url,
    dbPath,
    socketUrl: `${url.replace('http', 'ws')}/v1/ws`,
    pid: child.child.pid ?? 0,
    metric,
    /** The sum of all series of a metric. */
    total: async (name: string) => (await readMetrics(url)).sum(name),
    cpuSeconds: () => metric('process_cpu_seconds_total'),
    /** Stops its process, as if the machine had paused, or continues it. */
    freeze: () => child.signal('SIGSTOP'),
    thaw: () => child.signal('SIGCONT'),
    /** Ends it as a failure of the machine would. */
    async kill() {
      child.signal('SIGKILL')
      await child.exited
    },
    async stop() {
      child.signal('SIGTERM')
      await child.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** `exec node`, its flags, and the script. */
function startCommand(): string {
  return JSON.parse(readFileSync('package.json', 'utf8')).scripts.start
}

async function untilHealthy(url: string, exited: Promise<unknown>): Promise<void> {
  let isOver = false
  void exited.then(() => {
    isOver = true
  })
  while (!isOver) {
    const isHealthy = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isHealthy) return
    await delay(20)
  }
  throw new Error('the service has ended before it was healthy')
}
