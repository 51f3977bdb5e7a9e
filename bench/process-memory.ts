import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import WebSocket from 'ws'

const MAX_ANSWER_MS = 10_000

/** The memory of a process in bytes (RSS). */
export function residentBytes(pid: number): number {
  const path = `/proc/${pid}/status`
  const kibibytes = existsSync(path)
    ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(path, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(kibibytes) * 1024
}

/** Bytes of a Node process's heap in use after a garbage collection, from its inspector. */
export async function heapInUse(inspectorPort: number): Promise<number> {
  const targets = await fetch(`http://127.0.0.1:${inspectorPort}/json/list`)
  const [target] = (await targets.json()) as { webSocketDebuggerUrl: string }[]
  const inspector = new WebSocket(target?.webSocketDebuggerUrl ?? '', { perMessageDeflate: false })
  try {
    const signal = AbortSignal.timeout(MAX_ANSWER_MS)
    await once(inspector, 'open', { signal })
    const ask = async (method: string) => {
      inspector.send(JSON.stringify({ id: 1, method }))
      const [answer] = await once(inspector, 'message', { signal })
      return JSON.parse(String(answer)).result
    }
    await ask('HeapProfiler.collectGarbage')
    return (await ask('Runtime.getHeapUsage')).usedSize
  } finally {
    inspector.terminate()
  }
}
