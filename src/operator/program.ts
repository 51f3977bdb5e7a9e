import { Command, CommanderError } from 'commander'
import { badInput, CommandFailure } from '../../packages/cli/src/command-failure.js'
import { addBond } from '../../packages/cli/src/commands/bond-command.js'
import { addBooks } from '../../packages/cli/src/commands/books-command.js'
import { addCertify } from '../../packages/cli/src/commands/certify-command.js'
import { addCheckOffer } from '../../packages/cli/src/commands/check-offer-command.js'
import { addForward } from '../../packages/cli/src/commands/forward-command.js'
import { addMcp } from '../../packages/cli/src/commands/mcp-command.js'
import { addOrder } from '../../packages/cli/src/commands/order-command.js'
import { addOrders } from '../../packages/cli/src/commands/orders-command.js'
import { addQuote } from '../../packages/cli/src/commands/quote-command.js'
import { addRegister, addUnregister } from '../../packages/cli/src/commands/registration-commands.js'
import { addResults } from '../../packages/cli/src/commands/results-command.js'
import { addSolvers } from '../../packages/cli/src/commands/solvers-command.js'
import { addWatch } from '../../packages/cli/src/commands/watch-command.js'
import { EXIT, EXIT_CODE_HELP, type ExitCode } from '../../packages/cli/src/exit-codes.js'
import { type CliIo, guardOutput } from '../../packages/cli/src/io.js'
import { refuseKeys } from '../../packages/cli/src/solver-key.js'
import { ConfigError } from '../config/environment.js'
import { version } from '../config/version.js'
import { addDemo } from './commands/demo-command.js'
import { addDoctor } from './commands/doctor-command.js'
import { addKeys } from './commands/keys-command.js'
import { addMigrate } from './commands/migrate-command.js'
import { addRecords } from './commands/records-command.js'
import { addServe } from './commands/serve-command.js'
import { addSolverLists } from './commands/solver-list-commands.js'

/**
 * Runs one command line.
 * @param argv only the arguments, without the programs' names
 * @returns the exit code; nothing is thrown
 */
export async function run(argv: readonly string[], world: CliIo): Promise<ExitCode> {
  const io = { ...world, stdout: guardOutput(world.stdout), stderr: guardOutput(world.stderr) }
  try {
    refuseKeys(argv)
    await createProgram(io).parseAsync(argv, { from: 'user' })
    return EXIT.done
  } catch (error) {
    // Commander has already printed the error, and throws for --help and --version too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.badInput
    // A wrong variable of the instance is bad input of the commands on it.
    const failure = error instanceof ConfigError ? badInput(error.message) : error
    if (failure instanceof CommandFailure) {
      if (failure.exitCode !== EXIT.interrupted) io.stderr.write(`error: ${failure.message}\n`)
      return failure.exitCode
    }
    // An unforeseen error keeps its stack for a bug report.
    io.stderr.write(`error: ${error instanceof Error ? error.stack : error}\n`)
    return EXIT.unforeseen
  }
}

/** Every command, in the order of the help. */
export function createProgram(io: CliIo): Command {
  const program = new Command('quote-aggregator')
    .description('Requests a quote from every registered solver of a chain, and returns the best signed one.')
    .version(version)
    // Options after a subcommand belong to it: solvers has both.
    .enablePositionalOptions()
    .exitOverride()
    // The first sentence.
    .configureHelp({ subcommandDescription: (command) => /^[^.]*/.exec(command.description())?.[0] ?? '' })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError('Add --help to see the usage.')
    .addHelpText('after', MORE_HELP)

  program.commandsGroup('Run an instance:')
  addServe(program)
  addDoctor(program, io)
  addKeys(program, io)
  addRecords(program, io)
  addMigrate(program, io)
  addDemo(program, io)

  program.commandsGroup('Use an instance:')
  addQuote(program, io)
  addCheckOffer(program, io)
  addOrder(program, io)
  addOrders(program, io)
  addSolverLists(addSolvers(program, io), io)
  addWatch(program, io)
  addForward(program, io)
  addMcp(program, io)

  program.commandsGroup('Be a solver:')
  addBond(program, io)
  addCertify(program, io, async () => (await import('./certify/service-parts.js')).certifyHost)
  addRegister(program, io)
  addUnregister(program, io)
  addResults(program, io)
  addBooks(program, io)

  const help = new Command('help').argument('[command]').description('Shows the usage of a command.')
  program.addHelpCommand(help.helpGroup('More:'))
  return program
}

const MORE_HELP = `
Begin with:
  npx quote-aggregator demo                      a local chain, three solvers, a few swaps; needs a clone
  npx quote-aggregator solvers --chain 31337     in a second terminal: its solvers
  npx quote-aggregator doctor                    before your own instance serves

Variables, from the environment or a file .env: AGGREGATOR_URL, AGGREGATOR_API_KEY and SOLVER_PRIVATE_KEY, see docs/cli.md;
those of an instance, which serve and doctor read, see docs/configuration.md.

Exit codes:
${EXIT_CODE_HELP.map(([code, meaning]) => `  ${String(code).padEnd(3)}  ${meaning}`).join('\n')}
`
