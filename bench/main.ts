/**
 * Measures the cost of the service, next to the limit for the same work in the same run.
 *
 *   npm run bench                    all benchmarks
 *   npm run bench -- quote latency   some of them
 *   npm run bench -- growth          those of growth
 *
 *   --check    exits with 1 when a figure is beyond its threshold
 *   --record   writes BENCHMARKS.md and its pictures from the last result of each benchmark
 */
import { parseArgs } from 'node:util'
import { backfill } from './backfill.js'
import type { Benchmark, Row } from './benchmark.js'
import { broadcast } from './broadcast.js'
import { isMet, thresholdsOf } from './check.js'
import { consoles } from './consoles.js'
import { footprint } from './footprint.js'
import { growthCallers } from './growth-callers.js'
import { growthChains } from './growth-chains.js'
import { growthClients } from './growth-clients.js'
import { growthLog } from './growth-log.js'
import { growthSolvers } from './growth-solvers.js'
import { idleClients } from './idle-clients.js'
import { latency } from './latency.js'
import { memory } from './memory.js'
import { orderLists } from './order-lists.js'
import { type Picture, page } from './page.js'
import { latencyPlot, svg, throughputPlot } from './plot.js'
import { protocols } from './protocols.js'
import { CONNECTIONS, quote, USUAL_SIZE } from './quote.js'
import { quoteStreams } from './quote-streams.js'
import { reads } from './reads.js'
import { replayFlood } from './replay-flood.js'
import { replicaSessions } from './replica-sessions.js'
import { replicas } from './replicas.js'
import { asJson, merge, print, type Report, readReport, rounded, thisRun, writeText } from './report.js'
import { sessions } from './sessions.js'
import { tail } from './tail.js'

/** How the cost grows with the work, in one run: `npm run bench -- growth`. */
const GROWTH = [growthSolvers, growthCallers, growthChains, growthClients, growthLog]
const BENCHMARKS = [
  quote,
  protocols,
  sessions,
  tail,
  quoteStreams,
  reads,
  orderLists,
  latency,
  broadcast,
  idleClients,
  consoles,
  footprint,
  memory,
  backfill,
  replayFlood,
  replicas,
  replicaSessions,
  ...GROWTH,
]
const NAMES = BENCHMARKS.map(({ name }) => name)
/** Names that stand for several benchmarks. */
const GROUPS: Readonly<Record<string, readonly Benchmark[]>> = { growth: GROWTH }
const RESULTS = '.bench/results.json'
const PICTURES = 'docs/benchmarks'
const RECORDED = `${PICTURES}/results.json`

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
  const asked = positionals.flatMap((name) => GROUPS[name]?.map((benchmark) => benchmark.name) ?? [name])
  const unknown = asked.filter((name) => !NAMES.includes(name))
  if (unknown.length > 0)
    throw new Error(
      `no benchmark ${unknown.join(', ')}: there are ${[...NAMES, ...Object.keys(GROUPS)].join(', ')}`,
    )
  const isAsked = ({ name }: Benchmark) => asked.length === 0 || asked.includes(name)
  return { ...values, benchmarks: BENCHMARKS.filter(isAsked) }
}

/** What came of a run. */
interface Outcome {
  /** The results of this run. */
  readonly report: Report
  /** Whether each benchmark has a result. */
  readonly isComplete: boolean
}

/** Measures, prints, and writes each result at once. A benchmark that fails ends no other. */
async function run(benchmarks: readonly Benchmark[]): Promise<Outcome> {
  let report: Report = {}
  for (const { name, about, collectMetrics } of benchmarks) {
    process.stdout.write(`\n${name}: ${about}\n`)
    try {
      const result = await collectMetrics()
      print(result)
      report = { ...report, [name]: { about, run: thisRun(), ...result } }
      writeText(RESULTS, asJson(merge(readReport(RESULTS), report, NAMES)))
    } catch (error) {
      process.stderr.write(`${name} has failed: ${(error as Error).stack}\n`)
    }
  }
  return { report, isComplete: Object.keys(report).length === benchmarks.length }
}

/** Writes the page, its pictures and their results. */
function record(report: Report): void {
  const pictures = report.quote === undefined ? [] : drawQuotes(report.quote.rows)
  writeText('BENCHMARKS.md', page(report, { quote: pictures }))
  writeText(RECORDED, asJson(report))
}

function drawQuotes(rows: readonly Row[]): Picture[] {
  const plots = { throughput: throughputPlot(rows, CONNECTIONS), latency: latencyPlot(rows, USUAL_SIZE) }
  return Object.entries(plots).map(([name, plot]) => {
    const path = `${PICTURES}/${name}.svg`
    writeText(path, svg(plot))
    return { path, title: plot.title }
  })
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
  const { report, isComplete } = await run(options.benchmarks)
  // Benchmarks that this checkout has not run keep their recorded results.
  if (options.record) record(merge(readReport(RECORDED), readReport(RESULTS), NAMES))
  const isMissed = options.check && !check(report)
  return isMissed || !isComplete ? 1 : 0
}

process.exitCode = await main()
