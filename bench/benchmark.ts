/** One line of a benchmark's table. */
export type Row = Readonly<Record<string, string | number>>

/** A figure with a threshold that it must not cross. */
export interface Finding {
  readonly name: string
  readonly value: number
  readonly atLeast?: number
  readonly atMost?: number
}

/** The result of a benchmark. */
export interface Result {
  readonly rows: readonly Row[]
  readonly findings: readonly Finding[]
}

/** A measurement compared with its limit in one run. */
export interface Benchmark {
  /** Its name on the command line. */
  readonly name: string
  /** What is measured and what the limit is, in one sentence. */
  readonly about: string
  collectMetrics(): Promise<Result>
}
