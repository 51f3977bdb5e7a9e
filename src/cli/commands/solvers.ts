import type { Command } from 'commander'
import {
  DEFAULT_STATS_WINDOW,
  STATS_WINDOWS,
  type StatsWindow,
} from '../../domain/solvers/solver-statistics.js'
import type { Address } from '../../domain/values/hex.js'
import { readAddress, readChainId, readOneOf } from '../arguments.js'
import { callInstance, type InstanceFlags, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { printResult } from '../print-result.js'
import { formatTime } from '../printable.js'
import { addSolverLists } from './solver-lists.js'
import { showSolverStats } from './solver-stats.js'

interface Options extends InstanceFlags {
  readonly chain?: number
  readonly stats?: boolean
  readonly window?: StatsWindow
  readonly solver?: Address
}

/** `solvers`: the solvers that get quote requests, and the operator's lists. */
export function addSolvers(program: Command, io: CliIo): void {
  const command = program
    .command('solvers')
    .summary('list the active solvers of a chain; block, allow: decide who may register')
    .description('Lists the active solvers of a chain, the longest registered first.')
    // Not a required option: commander would require it for the subcommands too.
    .option('--chain <id>', 'the chain', readChainId)
    .option('--stats', 'show what the solvers did: requests, offers, orders and response times')
    .option(
      `--window <window>`,
      `the time of --stats: ${STATS_WINDOWS.join(', ')} (default: "${DEFAULT_STATS_WINDOW}")`,
      readOneOf(STATS_WINDOWS),
    )
    .option('--solver <address>', 'show one solver with --stats, by hours', readAddress)
    // An option before a subcommand would be ignored, and a removal would then apply to every chain.
    .enablePositionalOptions()
    .hook('preSubcommand', (solvers) => {
      if (Object.keys(solvers.opts()).length === 0) return
      solvers.error('error: options come last, such as solvers block <address> --chain 1')
    })
    .addHelpText(
      'after',
      '\nExamples:\n  quote-aggregator solvers --chain 31337\n  quote-aggregator solvers --chain 31337 --stats --window 7d',
    )
  takesInstance(command).action((options: Options) => {
    const { chain } = options
    if (chain === undefined) return command.error("error: required option '--chain <id>' not specified")
    if (options.stats) return showSolverStats(io, options, chain)
    if (options.window !== undefined || options.solver !== undefined)
      return command.error('error: --window and --solver need --stats')
    return list(io, options, chain)
  })
  addSolverLists(command, io)
}

async function list(io: CliIo, options: InstanceFlags, chainId: number): Promise<void> {
  const solvers = await callInstance(io, options, (client) =>
    client.listSolvers(chainId, { signal: io.interruption() }),
  )
  await printResult(io, options, solvers, ({ table }) => {
    if (solvers.length === 0) return `No solver is active on chain ${chainId}.\n`
    return table(
      [{ title: 'solver' }, { title: 'name' }, { title: 'registered' }],
      solvers.map(({ address, name, registeredAt }) => [address, name, formatTime(registeredAt / 1000)]),
    )
  })
}
