import type { SolverCounts, SolverHour, SolverStats } from '@quote-aggregator/client'
import type { StatsWindow } from '../../../protocol/src/solvers/solver-statistics.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import type { Instance, InstanceFlags } from '../called-instance.js'
import { formatTime } from '../output/printable.js'
import type { Column } from '../output/tables.js'

interface StatsOptions extends InstanceFlags {
  readonly window?: StatsWindow
  /** Shows one solver, by hours. */
  readonly solver?: Address
}

/** What is shown of counts. */
const COUNTS: readonly Column<SolverCounts>[] = [
  ['asked', ({ asked }) => asked],
  ['quoted', ({ quoted }) => quoted],
  ['declined', ({ declined }) => declined, 'minor'],
  ['invalid', ({ invalid }) => invalid, 'minor'],
  ['failed', ({ failed }) => failed, 'minor'],
  ['late', ({ late }) => late, 'minor'],
  ['cut off', ({ softDeadline }) => softDeadline, 'minor'],
  ['won', ({ won }) => won],
  ['won alone', ({ wonAlone }) => wonAlone, 'minor'],
  ['deposited', ({ deposited }) => deposited, 'minor'],
  ['settled', ({ settled }) => settled],
  ['refunded', ({ refunded }) => refunded, 'minor'],
  ['median ms', ({ medianResponseMs }) => medianResponseMs],
  ['p95 ms', ({ p95ResponseMs }) => p95ResponseMs],
]
const SOLVERS: readonly Column<SolverStats>[] = [
  ['solver', ({ solver }) => solver],
  ['name', ({ name }) => name],
  ...COUNTS,
  ['fill rate', ({ fillRate }) => formatShare(fillRate), 'amount'],
  ['state', stateOf],
]
const HOURS: readonly Column<SolverHour | SolverStats>[] = [
  ['hour', (row) => ('start' in row ? formatTime(row.start) : 'all')],
  ...COUNTS,
]

/** `solvers --stats`: what the solvers of a chain did, or one solver by hours. */
export function showSolverStats(
  instance: Instance,
  { window, solver }: StatsOptions,
  chainId: number,
): Promise<void> {
  if (solver === undefined)
    return instance.print(
      (client, calling) => client.listSolverStats(chainId, { window }, calling),
      (solvers, { table }) =>
        solvers.length > 0
          ? table(SOLVERS, solvers)
          : `No solver of chain ${chainId} is registered or has counts.\n`,
    )
  return instance.print(
    (client, calling) => client.getSolverStats(chainId, solver, { window }, calling),
    async ({ stats, hours }, { table, fields }) => {
      const formatBond = await instance.amounts.formatBond(chainId)
      const head = fields([
        ['solver', stats.solver],
        ['name', stats.name || undefined],
        ['total bond', formatBond(stats.totalBond)],
        ['free bond', formatBond(stats.freeBond)],
        ['fill rate', formatShare(stats.fillRate)],
        ['state', stateOf(stats)],
      ])
      return `${head}\n${table(HOURS, [...hours, stats])}`
    },
  )
}

function formatShare(share: number | undefined): string | undefined {
  return share === undefined ? undefined : `${(share * 100).toFixed(1)} %`
}

/** Why quotes do not ask the solver, or ask it in vain. */
function stateOf({ notAsked, unreachable }: SolverStats): string {
  return (notAsked ?? (unreachable ? 'unreachable' : 'ok')).toLowerCase().replaceAll('_', ' ')
}
