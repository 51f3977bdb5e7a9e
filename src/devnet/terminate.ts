import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

const GRACE_MS = 2_000

/**
 * Ends a child process, by force when it has not ended within 2 s. May be called more than once.
 * @returns when it is gone
 */
export async function terminate(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
  await exited
  clearTimeout(timer)
}
