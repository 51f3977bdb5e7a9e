import pg from 'pg'
import type { Logger } from '../../telemetry/log.js'
import { createWriteHealth, type Fault } from '../write-health.js'
import { mapConnectionErrors } from './postgres.js'

/** Whether a PostgreSQL that answers takes writes. */
export interface ServerHealth {
  isUp(): boolean
  /** Wraps a store, so that its errors name the server as their cause. Notes these errors. */
  watch<S extends object>(store: S): S
  /** Reports faults from now on. @param probe a write, as for WriteHealth */
  start(probe: () => Promise<unknown>): void
  close(): void
}

/** Faults by the beginning of their SQLSTATE. */
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
