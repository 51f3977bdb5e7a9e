import type { Command } from 'commander'
import type { Address } from '../../domain/hex.js'
import { toChecksumAddress } from '../../signing/checksum.js'
import type { BlockedSolver } from '../../store/blocked-solvers.js'
import { readAddress, readChainId } from '../arguments.js'
import { EXIT } from '../exit-codes.js'
import { CommandFailure } from '../failure.js'
import type { CliIo } from '../io.js'
import { ownDatabaseHelp, withBlockedSolvers } from '../own-database.js'
import { show } from '../show.js'

interface Options {
  readonly json?: boolean
}

interface BlockOptions extends Options {
  readonly chain?: number
}

const SAMPLE = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

/** `solvers block`, `solvers unblock` and `solvers blocked`: the operator's decisions about solvers. */
export function addBlockedSolvers(solvers: Command, io: CliIo): void {
  solvers.commandsGroup('On the database of your own instance:')
  takesAddress(solvers.command('block'), 'every chain')
    .summary('remove a solver and block its address')
    .description('Removes a solver and blocks its address. The address cannot register until you unblock it.')
    .addHelpText('after', ownDatabaseHelp(`solvers block ${SAMPLE}`, `solvers block ${SAMPLE} --chain 1`))
    .action((address: Address, options: BlockOptions) => block(io, address, options))
  takesAddress(solvers.command('unblock'), 'every chain, and each single one')
    .summary('let a blocked address register again')
    .description('Lets a blocked address register again. The solver must then register itself.')
    .addHelpText('after', ownDatabaseHelp(`solvers unblock ${SAMPLE}`))
    .action((address: Address, options: BlockOptions) => unblock(io, address, options))
  takesJson(solvers.command('blocked'))
    .summary('list the addresses that cannot register')
    .description('Lists the blocked addresses, the oldest first.')
    .addHelpText('after', ownDatabaseHelp('solvers blocked'))
    .action((options: Options) => list(io, options))
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

async function block(io: CliIo, address: Address, options: BlockOptions): Promise<void> {
  const entry: BlockedSolver = { address, chainId: options.chain, blockedAt: Date.now() }
  const removedFrom = await withBlockedSolvers(io, (blockedSolvers) => blockedSolvers.add(entry))
  const solver = toChecksumAddress(address)
  await show(io, options, { status: 'removed', ...toView(entry), removedFrom }, () => {
    const wasOn = removedFrom.length === 0 ? 'was not registered' : `is removed from ${chains(removedFrom)}`
    const note = removedFrom.length === 0 ? '' : ` ${FOLLOWS}`
    return `${solver} ${wasOn}, and is blocked from ${scope(entry.chainId)}.${note}\n`
  })
}

async function unblock(io: CliIo, address: Address, options: BlockOptions): Promise<void> {
  const { chain: chainId } = options
  const solver = toChecksumAddress(address)
  const removed = await withBlockedSolvers(io, async (blockedSolvers) => {
    const own = (await blockedSolvers.readAll()).filter((entry) => entry.address === address)
    if (chainId !== undefined && own.some((entry) => entry.chainId === undefined)) {
      const message = `${solver} is blocked from every chain: leave --chain out to allow it.`
      throw new CommandFailure(EXIT.refused, message)
    }
    return blockedSolvers.remove(address, chainId)
  })
  if (removed === 0) {
    const where = chainId === undefined ? '' : ` from chain ${chainId}`
    throw new CommandFailure(EXIT.refused, `${solver} is not blocked${where}.`)
  }
  const result = { status: 'allowed', address: solver, ...(chainId !== undefined && { chainId }) }
  await show(io, options, result, () => `${solver} may register on ${scope(chainId)} again.\n`)
}

async function list(io: CliIo, options: Options): Promise<void> {
  const blockedSolvers = await withBlockedSolvers(io, (store) => store.readAll())
  await show(io, options, blockedSolvers.map(toView), ({ table }) => {
    if (blockedSolvers.length === 0) return 'No address is blocked.\n'
    return table(
      [{ title: 'solver' }, { title: 'chain' }, { title: 'blocked' }],
      blockedSolvers.map(({ address, chainId, blockedAt }) => [
        toChecksumAddress(address),
        String(chainId ?? 'every'),
        new Date(blockedAt).toISOString(),
      ]),
    )
  })
}

/** An entry in JSON. Without `chainId` it applies to every chain. */
function toView({ address, chainId, blockedAt }: BlockedSolver) {
  return { address: toChecksumAddress(address), ...(chainId !== undefined && { chainId }), blockedAt }
}

function scope(chainId: number | undefined): string {
  return chainId === undefined ? 'every chain' : `chain ${chainId}`
}

function chains(chainIds: readonly number[]): string {
  return `chain${chainIds.length === 1 ? '' : 's'} ${chainIds.join(', ')}`
}
