/**
 * Measures the cost of the service, next to the limit for the same work in the same run.
 *
 *   npm run bench                    all benchmarks
 *   npm run bench -- quote tail      some of them
 *
 *   --check    exits with 1 when a figure is beyond its threshold
 *   --record   writes BENCHMARKS.md from the last result of each benchmark
 */
import { parseArgs } from 'node:util'
import type { Benchmark } from './benchmark.js'
import { broadcast } from './broadcast.js'
import { isMet, thresholdsOf } from './check.js'
import { events } from './events.js'
import { memory } from './memory.js'
import { page } from './page.js'
import { protocols } from './protocols.js'
import { quote } from './quote.js'
import { replicas } from './replicas.js'
import { asJson, merge, print, type Report, readReport, rounded, thisRun, writeText } from './report.js'
import { selection } from './selection.js'
import { sessions } from './sessions.js'
import { tail } from './tail.js'

const BENCHMARKS = [quote, protocols, sessions, tail, selection, events, broadcast, memory, replicas]
const NAMES = BENCHMARKS.map(({ name }) => name)
const RESULTS = '.bench/results.json'
const RECORDED = 'docs/benchmarks/results.json'

interface Options {
  readonly benchmarks: readonly Benchmark[]
  readonly check: boolean
  readonly record: boolean
}

/** @throws Error when the command line names an unknown benchmark */
function readOptions(): Options {
  const { values, positionals } = parseArgs({
    options: { check: { type: 'boolean', default: false }, record: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const unknown = positionals.filter((name) => !NAMES.includes(name))
  if (unknown.length > 0) throw new Error(`no benchmark ${unknown.join(', ')}: there are ${NAMES.join(', ')}`)
  const isAsked = ({ name }: Benchmark) => positionals.length === 0 || positionals.includes(name)
  return { ...values, benchmarks: BENCHMARKS.filter(isAsked) }
}

/** What came of a run. */
interface Outcome {
  /** The results of this run. */
  readonly report: Report
  readonly hasFailed: boolean
}

/** Measures, prints, and writes each result at once. A benchmark that fails ends no other. */
async function run(benchmarks: readonly Benchmark[]): Promise<Outcome> {
  let report: Report = {}
  let hasFailed = false
  for (const { name, about, collectMetrics } of benchmarks) {
    process.stdout.write(`\n${name}: ${about}\n`)
    try {
      const result = await collectMetrics()
      print(result)
      report = { ...report, [name]: { about, run: thisRun(), ...result } }
      writeText(RESULTS, asJson(merge(readReport(RESULTS), report, NAMES)))
    } catch (error) {
      hasFailed = true
      process.stderr.write(`${name} has failed: ${(error as Error).stack}\n`)
    }
  }
  return { report, hasFailed }
}

/** Writes the page and its results. */
function record(report: Report): void {
  writeText('BENCHMARKS.md', page(report))
  writeText(RECORDED, asJson(report))
}

/** Prints the figures beyond their thresholds. @returns whether there are none */
function check(report: Report): boolean {
  const missed = Object.values(report)
    .flatMap(({ findings }) => findings)
    .filter((finding) => !isMet(finding))
  for (const finding of missed) {
    process.stderr.write(`${finding.name}: ${rounded(finding.value)} instead of ${thresholdsOf(finding)}\n`)
  }
  return missed.length === 0
}

async function main(): Promise<number> {
  let options: Options
  try {
    options = readOptions()
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    return 2
  }
  const { report, hasFailed } = await run(options.benchmarks)
  // Benchmarks that this checkout has not run keep their recorded results.
  if (options.record) record(merge(readReport(RECORDED), readReport(RESULTS), NAMES))
  const isMissed = options.check && !check(report)
  return isMissed || hasFailed ? 1 : 0
}

process.exitCode = await main()
