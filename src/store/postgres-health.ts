import pg from 'pg'
import type { Logger } from '../telemetry/log.js'
import { mapConnectionErrors } from './postgres.js'
import { createWriteHealth, type Fault } from './write-health.js'

/** Whether a PostgreSQL that answers takes writes. */
export interface ServerHealth {
  isUp(): boolean
  /** Makes a store's failures say when the server is their cause, and takes note of them. */
  watch<S extends object>(store: S): S
  /** Reports faults from now on. @param probe a write, as WriteHealth takes it */
  start(probe: () => Promise<unknown>): void
  close(): void
}

/** By the beginning of SQLSTATE. */
const FAULTS: readonly [RegExp, Fault][] = [
  [/^25006/, { text: 'it is read-only: connect to the primary, or promote this standby', isLasting: false }],
  [/^53100/, { text: 'its disk is full: make room', isLasting: false }],
  [/^53/, { text: 'it lacks memory, connections or another resource: its log says which', isLasting: false }],
]

/** Builds the health of the server. */
export function createServerHealth(log: Logger): ServerHealth {
  const health = createWriteHealth({
    fields: {},
    downText: 'PostgreSQL takes no writes',
    upText: 'PostgreSQL takes writes again',
    log,
  })

  function note(error: unknown): void {
    if (!(error instanceof pg.DatabaseError)) return
    const fault = FAULTS.find(([pattern]) => pattern.test(error.code ?? ''))?.[1]
    if (fault !== undefined) health.failed(fault, error.message)
  }

  return {
    isUp: health.isUp,
    watch: (store) => mapConnectionErrors(store, note),
    start: (probe) => health.start(() => probe().then(health.written, note)),
    close: health.close,
  }
}
