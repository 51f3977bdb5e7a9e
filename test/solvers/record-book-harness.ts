import { Writable } from 'node:stream'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { Solver } from '../../src/domain/solver.js'
import { Peers } from '../../src/solvers/peers.js'
import { createRecordBook, type RecordBook } from '../../src/solvers/record-book.js'
import type { SolverRecord } from '../../src/solvers/solver-record.js'
import { type BenchStore, createBenchStore } from '../../src/store/bench-store.js'
import { openSqlite } from '../../src/store/sqlite.js'
import { createMetrics } from '../../src/telemetry/metrics.js'

const QUOTE_TIMEOUT_MS = 2000

/** A registered solver; its number is in its address. */
export function solver(number: number, changes: Partial<Solver> = {}): Solver {
  return {
    chainId: 1,
    address: `0x${number.toString(16).padStart(40, '0')}`,
    endpointUrl: `https://solver-${number}.example.org`,
    name: `Solver ${number}`,
    registeredAt: number,
    isBonded: true,
    ...changes,
  }
}

/** Has a solver fail so often that it is benched at this time, on the record's clock. */
export function bench(record: SolverRecord | undefined, now: number): void {
  for (let failure = 0; failure < 3; failure++) fail(record, now)
}

/** Has a solver fail once. */
export function fail(record: SolverRecord | undefined, now: number): void {
  record?.ask(now, new Peers(1)).end('failed', now)
}

/** Has a solver answer validly. */
export function answer(record: SolverRecord | undefined, now: number, tookMs = 0): void {
  record?.ask(now - tookMs, new Peers(1)).end('valid', now)
}

/** A store of terms in memory. */
export async function openStore() {
  const database = await openSqlite(':memory:')
  let isOpen = true
  const close = async () => {
    if (isOpen) await database.destroy()
    isOpen = false
  }
  onTestFinished(close)
  return { store: createBenchStore(database), close }
}

/** A line of the log. */
interface Line {
  readonly level: number
  readonly msg: string
}

/** A book whose clocks stand where a test puts them. */
export async function openBook({ store, clock, now }: { store: BenchStore; clock: number; now: number }) {
  const lines: Line[] = []
  const stream = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(line))
      done()
    },
  })
  const metrics = createMetrics()
  const book: RecordBook = await createRecordBook({
    store,
    quoteTimeoutMs: QUOTE_TIMEOUT_MS,
    clock: () => clock,
    now: () => now,
    metrics,
    log: pino({}, stream),
  })

  const active = new Map<number, readonly Solver[]>()
  function of(chainId: number, solvers: readonly Solver[]): readonly SolverRecord[] {
    active.set(chainId, solvers)
    return book.of(chainId, solvers)
  }

  /** The samples of one metric, as `chain_id solver value`, the solver by its number. */
  async function series(name: string): Promise<string[]> {
    book.measure(active)
    const text = await metrics.registry.getSingleMetricAsString(name)
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .map((line) => line.replace(/^.*chain_id="(\d+)",solver="0x0*([0-9a-f]+)"\}/, '$1 $2'))
  }

  return { of, measure: book.measure, series, lines }
}
