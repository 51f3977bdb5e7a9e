import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { dirname } from 'node:path'
import type { Result, Row } from './benchmark.js'
import { thresholdsOf, verdictOn } from './check.js'

/** The machine and the time of a measurement. */
export interface Run {
  readonly date: string
  readonly commit: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly node: string
  readonly platform: string
}

/** A benchmark's last result. */
export interface Entry extends Result {
  readonly about: string
  readonly run: Run
}

/** The last result of each benchmark, by its name. */
export type Report = Readonly<Record<string, Entry>>

/** This machine, this commit, now. */
export function thisRun(): Run {
  return {
    date: new Date().toISOString(),
    commit: currentCommit(),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  }
}

function currentCommit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'unknown'
  }
}

/** The last written report, or an empty one. */
export function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** Writes a file, and creates its folders. */
export function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** The report with a newer entry, in the order of `names`, without the entries of any other name. */
export function merge(report: Report, newer: Report, names: readonly string[]): Report {
  const entries = names.flatMap((name) => {
    const entry = newer[name] ?? report[name]
    return entry === undefined ? [] : [[name, entry] as const]
  })
  return Object.fromEntries(entries)
}

/** A report as JSON. */
export function asJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`
}

/** Prints a benchmark's table and findings. */
export function print({ rows, findings }: Result): void {
  console.table(rows.map(roundedRow))
  for (const finding of findings) {
    process.stdout.write(
      `${verdictOn(finding).padEnd(6)} ${finding.name}: ${rounded(finding.value)} (${thresholdsOf(finding)})\n`,
    )
  }
}

/** A figure with three significant digits. A whole one stays as it is. */
export function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}

function roundedRow(row: Row): Row {
  const cells = Object.entries(row).map(([column, value]) => [
    column,
    typeof value === 'number' ? rounded(value) : value,
  ])
  return Object.fromEntries(cells)
}
