import type { SolverCounts, SolverStats } from '@quote-aggregator/client'
import type { StatsWindow } from '../../domain/solvers/solver-statistics.js'
import type { Address } from '../../domain/values/hex.js'
import { callInstance, type InstanceFlags } from '../instance.js'
import type { CliIo } from '../io.js'
import { type Display, printResult } from '../print-result.js'
import { formatTime } from '../printable.js'

interface StatsOptions extends InstanceFlags {
  readonly window?: StatsWindow
  /** Shows one solver, by hours. */
  readonly solver?: Address
}

/** What is shown of counts, in columns. */
const COLUMNS: readonly (readonly [title: string, cell: (counts: SolverCounts) => string, isMinor?: true])[] =
  [
    ['asked', ({ asked }) => String(asked)],
    ['quoted', ({ quoted }) => String(quoted)],
    ['declined', ({ declined }) => String(declined), true],
    ['invalid', ({ invalid }) => String(invalid), true],
    ['failed', ({ failed }) => String(failed), true],
    ['late', ({ late }) => String(late), true],
    ['cut off', ({ softDeadline }) => String(softDeadline), true],
    ['won', ({ won }) => String(won)],
    ['won alone', ({ wonAlone }) => String(wonAlone), true],
    ['deposited', ({ deposited }) => String(deposited), true],
    ['settled', ({ settled }) => String(settled)],
    ['refunded', ({ refunded }) => String(refunded), true],
    ['median ms', ({ medianResponseMs }) => String(medianResponseMs ?? '')],
    ['p95 ms', ({ p95ResponseMs }) => String(p95ResponseMs ?? '')],
  ]
const COUNT_TITLES = COLUMNS.map(([title, , isMinor]) => ({ title, align: 'right' as const, isMinor }))
const toCells = (counts: SolverCounts) => COLUMNS.map(([, cell]) => cell(counts))

/** `solvers --stats`: what the solvers of a chain did, or one solver by hours. */
export async function showSolverStats(io: CliIo, options: StatsOptions, chainId: number): Promise<void> {
  const { window, solver } = options
  const signal = io.interruption()
  if (solver === undefined) {
    const solvers = await callInstance(io, options, (client) =>
      client.listSolverStats(chainId, { window }, { signal }),
    )
    await printResult(io, options, solvers, (display) => renderSolvers(solvers, chainId, display))
    return
  }
  const result = await callInstance(io, options, (client) =>
    client.getSolverStats(chainId, solver, { window }, { signal }),
  )
  await printResult(io, options, result, ({ table, fields }) => {
    const rows = result.hours.map((hour) => [formatTime(hour.start), ...toCells(hour)])
    const total = ['all', ...toCells(result.stats)]
    return `${fields(toFields(result.stats))}\n${table([{ title: 'hour' }, ...COUNT_TITLES], [...rows, total])}`
  })
}

function renderSolvers(solvers: readonly SolverStats[], chainId: number, { table }: Display): string {
  if (solvers.length === 0) return `No solver of chain ${chainId} is registered or has counts.\n`
  const columns = [
    { title: 'solver' },
    { title: 'name' },
    ...COUNT_TITLES,
    { title: 'fill rate', align: 'right' as const },
    { title: 'state' },
  ]
  const rows = solvers.map((stats) => [
    stats.solver,
    stats.name,
    ...toCells(stats),
    percentOf(stats.fillRate),
    stateOf(stats),
  ])
  return table(columns, rows)
}

function toFields(stats: SolverStats): [string, string | undefined][] {
  return [
    ['solver', stats.solver],
    ['name', stats.name || undefined],
    ['total bond', stats.totalBond?.toString()],
    ['free bond', stats.freeBond?.toString()],
    ['fill rate', percentOf(stats.fillRate) || undefined],
    ['state', stateOf(stats)],
  ]
}

function percentOf(share: number | undefined): string {
  return share === undefined ? '' : `${(share * 100).toFixed(1)} %`
}

/** Why quotes do not ask the solver. */
function stateOf({ notAsked = 'ok', coolDown }: SolverStats): string {
  const until = coolDown === undefined ? '' : ` until ${formatTime(coolDown.until / 1000)}`
  return `${notAsked.toLowerCase().replaceAll('_', ' ')}${until}`
}
