import type { ListedSolver, SolverStats } from '@quote-aggregator/client'
import type { Command } from 'commander'
import {
  DEFAULT_STATS_WINDOW,
  STATS_WINDOWS,
  type StatsWindow,
} from '../../../protocol/src/solvers/solver-statistics.js'
import { readChainId, readOneOf } from '../arguments.js'
import { type InstanceFlags, takesInstance } from '../called-instance.js'
import type { CliIo } from '../io.js'
import { formatTime } from '../output/printable.js'
import type { Column } from '../output/tables.js'

interface Options extends InstanceFlags {
  readonly chain?: number
  readonly stats?: boolean
  readonly window?: StatsWindow
}

const COLUMNS: readonly Column<ListedSolver>[] = [
  ['solver', ({ address }) => address],
  ['name', ({ name }) => name],
  ['registered', ({ registeredAt }) => formatTime(registeredAt / 1000)],
]

const STATS: readonly Column<SolverStats>[] = [
  ['solver', ({ solver }) => solver],
  ['name', ({ name }) => name],
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
  ['fill rate', ({ fillRate }) => fillRate && `${(fillRate * 100).toFixed(1)} %`, 'amount'],
  ['state', stateOf],
]

/** Why quotes do not ask the solver, or ask it in vain. */
function stateOf({ notAsked, unreachable }: SolverStats): string {
  return (notAsked ?? (unreachable ? 'unreachable' : 'ok')).toLowerCase().replaceAll('_', ' ')
}

/** `solvers`: the solvers that get quote requests. @returns the command, to which the operator's lists are added */
export function addSolvers(program: Command, io: CliIo): Command {
  const command = program
    .command('solvers')
    .description(
      'Lists the active solvers of a chain; block and allow decide who may register. The longest registered is first.',
    )
    // Not a required option: commander would require it for the subcommands too.
    .option('--chain <id>', 'the chain', readChainId)
    .option('--stats', 'show what the solvers did: requests, offers, orders and response times')
    .option(
      `--window <window>`,
      `the time of --stats: ${STATS_WINDOWS.join(', ')} (default: "${DEFAULT_STATS_WINDOW}")`,
      readOneOf(STATS_WINDOWS),
    )
    // An option before a subcommand would be ignored, and a removal would then apply to every chain.
    .enablePositionalOptions()
    .hook('preSubcommand', (solvers) => {
      if (Object.keys(solvers.opts()).length === 0) return
      solvers.error('error: options come last, such as solvers block <address> --chain 1')
    })
    .addHelpText('after', '\nExample:\n  quote-aggregator solvers --chain 31337 --stats --window 7d')
  takesInstance(command, io, async (instance, options: Options) => {
    const { chain, stats, window } = options
    if (chain === undefined) return command.error("error: required option '--chain <id>' not specified")
    if (stats)
      return instance.print(
        (client, calling) => client.listSolverStats(chain, { window }, calling),
        (solvers, { table }) =>
          solvers.length > 0
            ? table(STATS, solvers)
            : `No solver of chain ${chain} is registered or has counts.\n`,
      )
    if (window !== undefined) return command.error('error: --window needs --stats')
    await instance.print(
      (client, calling) => client.listSolvers(chain, calling),
      (solvers, { table }) =>
        solvers.length > 0 ? table(COLUMNS, solvers) : `No solver is active on chain ${chain}.\n`,
    )
  })
  return command
}
