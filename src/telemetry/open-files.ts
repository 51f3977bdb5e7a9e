import { open } from 'node:fs/promises'
import { devNull } from 'node:os'
import type { Clock } from '../../packages/protocol/src/clock.js'
import type { Logger } from './log.js'

/** Shorter than an idle connection lives. */
const CHECK_MS = 5000
const FULL: readonly unknown[] = ['EMFILE', 'ENFILE']

/**
 * Logs when the process can open no more files, and when it can again. Node then closes new connections and tells nobody.
 * @returns a function that ends this
 */
export function watchOpenFiles(log: Logger, clock: Clock): () => void {
  let wasFull = false
  async function check(): Promise<void> {
    const code: unknown = await open(devNull).then(
      (file) => file.close(),
      (error: NodeJS.ErrnoException) => error.code,
    )
    const isFull = FULL.includes(code)
    if (isFull && !wasFull)
      log.error({ code }, 'no more files can be opened, so new connections are closed: raise nofile')
    if (!isFull && wasFull) log.info('files can be opened again')
    wasFull = isFull
  }
  const timer = clock.setInterval(() => void check(), CHECK_MS)
  return () => timer.stop()
}
