import type { Row } from './benchmark.js'
import { quantile } from './load.js'

/** The measurements of one item. Unmeasured ones are left out. */
export interface Figures {
  readonly perSecond?: number
  /** Milliseconds of each. */
  readonly times?: readonly number[]
  /** CPU milliseconds of each in the service. */
  readonly cpuMs?: number
  /** CPU milliseconds of each in PostgreSQL. NaN where they cannot be measured. */
  readonly databaseCpuMs?: number
  readonly ratio?: number
}

/** Figures as a line of the common table of the benchmark `replicas`. */
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
