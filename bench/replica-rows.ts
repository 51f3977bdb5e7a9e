import type { Row } from './benchmark.js'
import { quantile } from './load.js'

/** What was measured of one thing; whatever is left out was not. */
export interface Figures {
  readonly perSecond?: number
  /** Milliseconds of each. */
  readonly times?: readonly number[]
  /** Milliseconds of a processor that one took in the service. */
  readonly cpuMs?: number
  /** Milliseconds of a processor that one took in PostgreSQL; not a number where that cannot be seen. */
  readonly databaseCpuMs?: number
  readonly ratio?: number
}

/** Figures as a line of the table that all parts of the benchmark `replicas` share. */
export function rowOf(part: string, what: string, figures: Figures): Row {
  const { perSecond, times, cpuMs, databaseCpuMs, ratio } = figures
  const columns = {
    part,
    what,
    'per second': perSecond,
    'median ms': times && quantile(times, 0.5),
    'p99 ms': times && quantile(times, 0.99),
    'longest ms': times && Math.max(...times),
    'CPU ms of each': cpuMs,
    "PostgreSQL's CPU ms": databaseCpuMs,
    ratio,
  }
  const isKnown = (value: unknown) => value !== undefined && !Number.isNaN(value)
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => isKnown(value))) as Row
}
