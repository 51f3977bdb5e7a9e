import { reasonOf } from '../domain/errors.js'
import type { Logger } from '../telemetry/log.js'

/** Keeps a copy in memory up to date with the store. */
export interface Refresher {
  /** Reads the store again. The read begins after this call, and is repeated until it succeeds. */
  refresh(): void
  close(): void
}

const RETRY_MS = 1000

/** Builds the refresher over a function that reads the store. */
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
      if (isFailing) log.info('the changes of other replicas are read again')
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn({ reason: reasonOf(error) }, 'the changes of other replicas could not be read')
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
