import { reasonOf } from '../domain/errors.js'
import type { Logger } from '../telemetry/log.js'

/** Something in memory that follows what is stored. */
export interface Refresher {
  /** Reads anew, beginning not before this call; until that has succeeded, again and again. */
  refresh(): void
  close(): void
}

const RETRY_MS = 1000

/** Builds the mirror over a way to read. */
export function createRefresher(read: () => Promise<void>, log: Logger): Refresher {
  let isReading = false
  let isWanted = false
  let isClosed = false
  /** Whether the last reading failed, as the log says. */
  let isFailing = false
  let timer: NodeJS.Timeout | undefined

  async function readWhileWanted(): Promise<void> {
    isReading = true
    try {
      while (isWanted) {
        isWanted = false
        await read()
      }
      if (isFailing) log.info('what other replicas have changed is read again')
      isFailing = false
    } catch (error) {
      if (!isFailing)
        log.warn({ reason: reasonOf(error) }, 'what other replicas have changed could not be read')
      isFailing = true
      if (!isClosed) timer = setTimeout(refresh, RETRY_MS)
    }
    isReading = false
  }

  function refresh(): void {
    isWanted = true
    clearTimeout(timer)
    if (!isReading) void readWhileWanted()
  }

  return {
    refresh,
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
