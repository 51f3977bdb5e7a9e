import type { Command } from 'commander'
import type { Address } from '../../domain/values/hex.js'
import { toChecksumAddress } from '../../signing/checksum.js'
import type { ListedSolver, SolverListName } from '../../store/operator/listed-solvers.js'
import { readAddress, readChainId } from '../arguments.js'
import { EXIT } from '../exit-codes.js'
import { CommandFailure } from '../failure.js'
import type { CliIo } from '../io.js'
import { ownDatabaseHelp, withOperatorStores } from '../own-database.js'
import { printResult } from '../print-result.js'
import { formatTime } from '../printable.js'

interface Options {
  readonly json?: boolean
}

interface ListOptions extends Options {
  readonly chain?: number
}

const FOLLOWS_LISTS =
  'A running service with a file follows within BOND_CHECK_INTERVAL_MS (30 s), with PostgreSQL at once.'
const SAMPLE = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

/** `solvers block`, `unblock`, `allow`, `disallow`, `blocked` and `allowed`: the operator's decisions about solvers. */
export function addSolverLists(solvers: Command, io: CliIo): void {
  solvers.commandsGroup('On the database of your own instance:')
  takesAddress(solvers.command('block'), 'every chain')
    .summary('remove a solver and block its address')
    .description('Removes a solver and blocks its address. The address cannot register until you unblock it.')
    .addHelpText(
      'after',
      ownDatabaseHelp(FOLLOWS_LISTS, `solvers block ${SAMPLE}`, `solvers block ${SAMPLE} --chain 1`),
    )
    .action((address: Address, options: ListOptions) => add(io, 'blocked', address, options))
  takesAddress(solvers.command('unblock'), 'every chain, and each single one')
    .summary('let a blocked address register again')
    .description('Lets a blocked address register again. The solver must then register itself.')
    .addHelpText('after', ownDatabaseHelp(FOLLOWS_LISTS, `solvers unblock ${SAMPLE}`))
    .action((address: Address, options: ListOptions) => takeOff(io, 'blocked', address, options))
  takesAddress(solvers.command('allow'), 'every chain')
    .summary('let an address register where only some may')
    .description(
      'Allows an address. With SOLVER_ALLOWLIST=true, only allowed ones register, connect and are asked.',
    )
    .addHelpText('after', ownDatabaseHelp(FOLLOWS_LISTS, `solvers allow ${SAMPLE}`))
    .action((address: Address, options: ListOptions) => add(io, 'allowed', address, options))
  takesAddress(solvers.command('disallow'), 'every chain, and each single one')
    .summary('take an address off the list of allowed ones')
    .description(
      'Takes an address off the list of allowed ones. With SOLVER_ALLOWLIST=true, its solver is removed.',
    )
    .addHelpText('after', ownDatabaseHelp(FOLLOWS_LISTS, `solvers disallow ${SAMPLE}`))
    .action((address: Address, options: ListOptions) => takeOff(io, 'allowed', address, options))
  takesJson(solvers.command('blocked'))
    .summary('list the addresses that cannot register')
    .description('Lists the blocked addresses, the oldest first.')
    .addHelpText('after', ownDatabaseHelp(FOLLOWS_LISTS, 'solvers blocked'))
    .action((options: Options) => list(io, 'blocked', options))
  takesJson(solvers.command('allowed'))
    .summary('list the addresses that may register where only some may')
    .description('Lists the allowed addresses, the oldest first.')
    .addHelpText('after', ownDatabaseHelp(FOLLOWS_LISTS, 'solvers allowed'))
    .action((options: Options) => list(io, 'allowed', options))
}

function takesAddress(command: Command, everyChain: string): Command {
  command
    .argument('<address>', "the solver's address", readAddress)
    .option('--chain <id>', `one chain; ${everyChain} when left out`, readChainId)
  return takesJson(command)
}

function takesJson(command: Command): Command {
  return command.option('--json', 'JSON on standard output, for scripts')
}

/** SQLite notifies no other process of a change: the service reads the table at each bond check. */
const FOLLOWS = 'A running service follows within BOND_CHECK_INTERVAL_MS.'

async function add(io: CliIo, name: SolverListName, address: Address, options: ListOptions): Promise<void> {
  const entry: ListedSolver = { address, chainId: options.chain, listedAt: Date.now() }
  const removedFrom = await withOperatorStores(io, ({ lists }) => lists[name].add(entry))
  const view = toView(name, entry)
  const on = scope(entry.chainId)
  const removal = `is removed from ${chains(removedFrom)}, and is blocked from ${on}. ${FOLLOWS}`
  const blocked = removedFrom.length > 0 ? removal : `was not registered, and is blocked from ${on}.`
  const [result, text] =
    name === 'allowed'
      ? [{ status: name, ...view }, `is allowed on ${on}.`]
      : [{ status: 'removed', ...view, removedFrom }, blocked]
  await printResult(io, options, result, () => `${view.address} ${text}\n`)
}

async function takeOff(
  io: CliIo,
  name: SolverListName,
  address: Address,
  options: ListOptions,
): Promise<void> {
  const { chain: chainId } = options
  const solver = toChecksumAddress(address)
  const removed = await withOperatorStores(io, async ({ lists }) => {
    const own = (await lists[name].readAll()).filter((entry) => entry.address === address)
    if (chainId !== undefined && own.some((entry) => entry.chainId === undefined)) {
      const message = `${solver} is ${name} on every chain: leave --chain out to change that.`
      throw new CommandFailure(EXIT.refused, message)
    }
    return lists[name].remove(address, chainId)
  })
  if (removed === 0) {
    const where = chainId === undefined ? '' : ` on chain ${chainId}`
    throw new CommandFailure(EXIT.refused, `${solver} is not ${name}${where}.`)
  }
  const status = name === 'blocked' ? 'allowed' : 'disallowed'
  const result = { status, address: solver, ...(chainId !== undefined && { chainId }) }
  const text =
    name === 'blocked'
      ? `${solver} may register on ${scope(chainId)} again.\n`
      : `${solver} is not allowed on ${scope(chainId)} any more. ${FOLLOWS}\n`
  await printResult(io, options, result, () => text)
}

async function list(io: CliIo, name: SolverListName, options: Options): Promise<void> {
  const entries = await withOperatorStores(io, ({ lists }) => lists[name].readAll())
  const views = entries.map((entry) => toView(name, entry))
  await printResult(io, options, views, ({ table }) => {
    if (entries.length === 0) return `No address is ${name}.\n`
    return table(
      [{ title: 'solver' }, { title: 'chain' }, { title: name }],
      entries.map(({ address, chainId, listedAt }) => [
        toChecksumAddress(address),
        String(chainId ?? 'every'),
        formatTime(listedAt / 1000),
      ]),
    )
  })
}

/** An entry in JSON. Without `chainId` it applies to every chain. */
function toView(name: SolverListName, { address, chainId, listedAt }: ListedSolver) {
  const at = name === 'blocked' ? { blockedAt: listedAt } : { allowedAt: listedAt }
  return { address: toChecksumAddress(address), ...(chainId !== undefined && { chainId }), ...at }
}

function scope(chainId: number | undefined): string {
  return chainId === undefined ? 'every chain' : `chain ${chainId}`
}

function chains(chainIds: readonly number[]): string {
  return `chain${chainIds.length === 1 ? '' : 's'} ${chainIds.join(', ')}`
}
