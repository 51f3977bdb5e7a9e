/**
 * Measures what the service adds, beside the limit for the same work in the same run.
 *
 *   npm run bench                   all benchmarks
 *   npm run bench -- latency        one or more of them
 */
import { measureBackfill } from './backfill.js'
import { measureBroadcast } from './broadcast.js'
import { measureLatency } from './latency.js'
import { measureQuote } from './quote.js'

const BENCHMARKS: Readonly<Record<string, () => Promise<object[]>>> = {
  quote: measureQuote,
  latency: measureLatency,
  broadcast: measureBroadcast,
  backfill: measureBackfill,
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in BENCHMARKS))
if (unknown.length > 0) {
  process.stderr.write(
    `no benchmark ${unknown.join(', ')}: there are ${Object.keys(BENCHMARKS).join(', ')}\n`,
  )
  process.exit(2)
}
for (const [name, measure] of Object.entries(BENCHMARKS)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  process.stdout.write(`${name}\n`)
  console.table(await measure())
}
