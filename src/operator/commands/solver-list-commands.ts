import type { Command } from 'commander'
import { readAddress, readChainId } from '../../../packages/cli/src/arguments.js'
import { refused } from '../../../packages/cli/src/command-failure.js'
import type { CliIo } from '../../../packages/cli/src/io.js'
import { printResult } from '../../../packages/cli/src/output/print-result.js'
import { formatTime } from '../../../packages/cli/src/output/printable.js'
import { toChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { ListedSolver, SolverListName } from '../../store/operator/listed-solvers.js'
import { takesOwnDatabase, withOperatorStores } from '../own-database.js'

interface Options {
  readonly json?: boolean
  readonly chain?: number
}

const FOLLOWS_LISTS =
  'A running service with a file follows within BOND_CHECK_INTERVAL_MS (30 s), with PostgreSQL at once.'

const SAMPLE = ' 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC --chain 1'

/** What a command does with an address on a list. */
type Work = (io: CliIo, list: SolverListName, address: Address, options: Options) => Promise<void>

/** `solvers block`, `unblock`, `allow`, `disallow`, `blocked` and `allowed`: the operator's decisions about solvers. */
export function addSolverLists(solvers: Command, io: CliIo): void {
  solvers.commandsGroup('On the database of your own instance:')
  const command = (name: string, argument: string, description: string) =>
    takesOwnDatabase(
      solvers.command(name).description(description),
      FOLLOWS_LISTS,
      `solvers ${name}${argument}`,
    )
  const addChange = (name: string, list: SolverListName, work: Work, description: string) =>
    command(name, SAMPLE, description)
      .argument('<address>', "the solver's address", readAddress)
      .option('--chain <id>', 'one chain; all chains when left out', readChainId)
      .action((address: Address, options: Options) => work(io, list, address, options))
  const addShow = (list: SolverListName, description: string) =>
    command(list, '', description).action((options: Options) => show(io, list, options))

  addChange(
    'block',
    'blocked',
    add,
    'Removes a solver and blocks its address. The address cannot register until you unblock it.',
  )
  addChange(
    'unblock',
    'blocked',
    takeOff,
    'Lets a blocked address register again. The solver must then register itself.',
  )
  addChange(
    'allow',
    'allowed',
    add,
    'Lets an address register where only some may. With SOLVER_ALLOWLIST=true, only allowed ones register, connect and are asked.',
  )
  addChange(
    'disallow',
    'allowed',
    takeOff,
    'Takes an address off the list of allowed ones. With SOLVER_ALLOWLIST=true, its solver is removed.',
  )
  addShow('blocked', 'Lists the addresses that cannot register, the oldest first.')
  addShow('allowed', 'Lists the addresses that may register where only some may, the oldest first.')
}

async function add(io: CliIo, list: SolverListName, address: Address, options: Options): Promise<void> {
  const entry: ListedSolver = { address, chainId: options.chain, listedAt: Date.now() }
  const removedFrom = await withOperatorStores(io, ({ lists }) => lists[list].add(entry))
  const view = toView(list, entry)
  const result = list === 'allowed' ? { status: list, ...view } : { status: 'removed', ...view, removedFrom }
  const removal = removedFrom.length > 0 ? `, and removed from ${removedFrom.map(scope).join(', ')}` : ''
  const text = `${view.address} is ${list} on ${scope(options.chain)}${removal}.\n`
  await printResult(io, options, result, () => text)
}

async function takeOff(io: CliIo, list: SolverListName, address: Address, options: Options): Promise<void> {
  const { chain: chainId } = options
  const solver = toChecksumAddress(address)
  const removed = await withOperatorStores(io, async ({ lists }) => {
    const own = (await lists[list].readAll()).filter((entry) => entry.address === address)
    if (chainId !== undefined && own.some((entry) => entry.chainId === undefined)) {
      const message = `${solver} is ${list} on every chain: leave --chain out to change that.`
      throw refused(message)
    }
    return lists[list].remove(address, chainId)
  })
  if (removed === 0) throw refused(`${solver} is not ${list} on ${scope(chainId)}.`)
  const status = list === 'blocked' ? 'allowed' : 'disallowed'
  const text = `${solver} is no longer ${list} on ${scope(chainId)}.\n`
  await printResult(io, options, { status, address: solver, chainId }, () => text)
}

async function show(io: CliIo, list: SolverListName, options: Options): Promise<void> {
  const entries = await withOperatorStores(io, ({ lists }) => lists[list].readAll())
  const views = entries.map((entry) => toView(list, entry))
  await printResult(io, options, views, ({ table }) => {
    if (entries.length === 0) return `No address is ${list}.\n`
    return table(
      [
        ['solver', ({ address }) => toChecksumAddress(address)],
        ['chain', ({ chainId }) => String(chainId ?? 'every')],
        [list, ({ listedAt }) => formatTime(listedAt / 1000)],
      ],
      entries,
    )
  })
}

/** An entry in JSON. Without `chainId` it applies to every chain. */
function toView(list: SolverListName, { address, chainId, listedAt }: ListedSolver) {
  return { address: toChecksumAddress(address), chainId, [`${list}At`]: listedAt }
}

function scope(chainId: number | undefined): string {
  return chainId === undefined ? 'every chain' : `chain ${chainId}`
}
