/**
 * Runs three replicas for some minutes with one fault after another, and compares what every subscriber got
 * with the chain.
 *
 *   npm run soak -- --minutes 10 --seed 1
 *
 * Exits with 1 when an event was lost, doubled or out of order, or two subscribers got different events.
 */
import { parseArgs } from 'node:util'
import { buildOnce } from '../support/process/prepare-once.js'
import { expectedMessages } from '../support/streams/event-messages.js'
import { firstDifference } from '../support/streams/event-subscriber.js'
import { FAULTS, type Fault } from './faults.js'
import { type Gauges, startGauges } from './gauges.js'
import { openScenario, type ScenarioContext } from './scenario.js'
import { judge } from './verdict.js'

const MINUTE_MS = 60_000
const MEGABYTE = 1e6

/** How often a fault occurred, and how long it took until all subscribers were up to date again. */
interface FaultFigures {
  times: number
  longestMs: number
}

function readOptions() {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
  })
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
  if (!(minutes > 0)) throw new Error('--minutes must be a number above 0')
  if (!Number.isSafeInteger(seed)) throw new Error('--seed must be an integer')
  return { minutes, seed }
}

/** Resolves when every subscriber has got an event that happens after this call. */
async function untilAllAreUpToDate({ deposit, subscribers }: ScenarioContext): Promise<void> {
  const orderId = await deposit()
  await Promise.all(subscribers.map((subscriber) => subscriber.until(orderId)))
}

async function befall(
  scenario: ScenarioContext,
  fault: Fault,
  figures: Map<string, FaultFigures>,
): Promise<void> {
  await fault.run(scenario)
  const start = performance.now()
  await untilAllAreUpToDate(scenario)
  const tookMs = performance.now() - start
  const { times, longestMs } = figures.get(fault.name) ?? { times: 0, longestMs: 0 }
  figures.set(fault.name, { times: times + 1, longestMs: Math.max(longestMs, Math.round(tookMs)) })
  process.stdout.write(`${fault.name}: all subscribers up to date after ${Math.round(tookMs)} ms\n`)
}

/** All faults in a random order. */
function shuffled({ random }: ScenarioContext): Fault[] {
  const keyed = FAULTS.map((fault) => ({ fault, key: random.integer(0, 2 ** 30) }))
  return keyed.sort((a, b) => a.key - b.key).map(({ fault }) => fault)
}

async function soak(
  scenario: ScenarioContext,
  gauges: Gauges,
  minutes: number,
): Promise<Map<string, FaultFigures>> {
  const figures = new Map<string, FaultFigures>()
  const end = performance.now() + minutes * MINUTE_MS
  while (performance.now() < end) {
    for (const fault of shuffled(scenario)) {
      await gauges.look()
      await befall(scenario, fault, figures)
      if (performance.now() >= end) break
    }
  }
  return figures
}

async function conclude(scenario: ScenarioContext, gauges: Gauges): Promise<boolean> {
  const { chain, fromBlock, subscribers, quotes } = scenario
  await untilAllAreUpToDate(scenario)
  await Promise.all([scenario.stopTrade(), quotes.stop()])
  await gauges.look()
  gauges.stop()
  const expected = await expectedMessages(chain, fromBlock)
  const [first] = subscribers
  const verdicts = subscribers.map((subscriber) => ({
    subscriber: subscriber.name,
    messages: subscriber.received().length,
    ...judge(subscriber.received(), expected),
    'different from the first':
      firstDifference(subscriber.received(), first?.received() ?? []) === undefined ? 0 : 1,
    streams: subscriber.endings.length + 1,
  }))
  console.table(verdicts)
  const bad = quotes.answers.filter(({ status }) => status !== 200)
  const [memory, files] = [gauges.memory(), gauges.files()]
  console.table({
    'events on the chain': expected.length,
    'longest gap, ms': Math.round(gauges.longestGapMs()),
    'quotes answered': quotes.answers.length,
    'quotes not answered with 200': bad.length,
    'memory first, MB': Math.round((memory?.first ?? 0) / MEGABYTE),
    'memory highest, MB': Math.round((memory?.highest ?? 0) / MEGABYTE),
    'memory last, MB': Math.round((memory?.last ?? 0) / MEGABYTE),
    'open files first': files?.first,
    'open files highest': files?.highest,
    'open files last': files?.last,
  })
  for (const { status, text } of bad.slice(0, 5)) process.stdout.write(`a quote got ${status}: ${text}\n`)
  return verdicts.every(
    (one) => one.lost + one.doubled + one.misordered + one['different from the first'] === 0,
  )
}

async function main(): Promise<number> {
  const { minutes, seed } = readOptions()
  await buildOnce()
  const scenario = await openScenario(seed)
  const gauges = startGauges(scenario.fleet, scenario.subscribers)
  try {
    const figures = await soak(scenario, gauges, minutes)
    console.table(Object.fromEntries(figures))
    return (await conclude(scenario, gauges)) ? 0 : 1
  } finally {
    gauges.stop()
    await scenario.stop()
  }
}

process.exitCode = await main()
