/** One line of a benchmark's table. */
export type Row = Readonly<Record<string, string | number>>

/** A figure that has a line which it must not cross. */
export interface CheckResult {
  readonly name: string
  readonly value: number
  readonly atLeast?: number
  readonly atMost?: number
}

/** What a benchmark has shown. */
export interface Result {
  readonly rows: readonly Row[]
  readonly findings: readonly CheckResult[]
}

/** A measurement beside its limit, in one run. */
export interface Benchmark {
  /** As it is called on the command line. */
  readonly name: string
  /** What is measured and what the limit is, in one sentence. */
  readonly about: string
  collectMetrics(): Promise<Result>
}
