import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.js'
import { startChild } from '../test/support/process/child-process.js'
import { SERVICE_FLAGS } from './built-service.js'
import { type OpenStreams, STREAMS } from './many-quote-streams.js'
import { heapInUse, residentBytes } from './process-memory.js'
import type { SolverFixture } from './solver-fixture.js'

/** Longer than the interval of heartbeats: then a stream waits as it does for most of its time. */
const IDLE_MS = 17_000
const FIRST_CROWDS = 3

/** Memory in bytes: the heap in use, and that of the whole process (RSS). */
export interface Memory {
  readonly heap: number
  readonly resident: number
}

/** Opens and ends so many streams that the caches of a server are full, and only open streams differ later. */
export async function warmUp(url: string, fixture: SolverFixture, open: OpenStreams): Promise<void> {
  for (let crowd = 0; crowd < FIRST_CROWDS; crowd++) await (await open(url, fixture))()
}

/** The memory of an idle process without garbage. */
export async function idleMemory(pid: number, inspectorPort: number): Promise<Memory> {
  await delay(IDLE_MS)
  return { heap: await heapInUse(inspectorPort), resident: residentBytes(pid) }
}

/** What each stream takes of the memory that `STREAMS` streams added. */
export function perStream(before: Memory, after: Memory): Memory {
  return {
    heap: (after.heap - before.heap) / STREAMS,
    resident: (after.resident - before.resident) / STREAMS,
  }
}

/** The memory of each stream of plain Connect on node:http2, in a process of its own with the flags of the service. */
export async function measureBareStreams(fixture: SolverFixture, open: OpenStreams): Promise<Memory> {
  const inspectorPort = await freePort()
  const flags = [...SERVICE_FLAGS, `--inspect=127.0.0.1:${inspectorPort}`, '--import', 'tsx']
  const server = startChild(process.execPath, [...flags, 'bench/bare-streams.ts'], {})
  try {
    const [, port] = await server.waitFor(/listening (\d+)/)
    const url = `http://127.0.0.1:${port}`
    const memory = () => idleMemory(server.child.pid ?? 0, inspectorPort)
    await warmUp(url, fixture, open)
    const before = await memory()
    const leave = await open(url, fixture)
    const after = await memory()
    await leave()
    return perStream(before, after)
  } finally {
    server.signal('SIGTERM')
    await server.exited
  }
}
