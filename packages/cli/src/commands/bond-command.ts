import type { Command } from 'commander'
import { toChecksumAddress } from '../../../protocol/src/signing/typed-data.js'
import { freeBondOf } from '../../../protocol/src/solvers/solver.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import { readAddress, readAmount } from '../arguments.js'
import type { BondContract } from '../bond-contract.js'
import type { CliIo } from '../io.js'
import { printResult } from '../output/print-result.js'
import { formatTime } from '../output/printable.js'
import { readAccount } from '../solver-key.js'
import { KEYS } from './registration-commands.js'

interface Options {
  readonly rpcUrl: string
  readonly settlement: Address
  readonly json?: boolean
}

interface ChangeOptions extends Options {
  readonly keyFile?: string
  readonly amount?: string
}

const HELP = `${KEYS}
It names each transaction, sends it and waits for it. The contract is approved to take the amount and no more.`

/** `bond`: a solver's bond on the settlement contract. It asks a node, and no instance. */
export function addBond(program: Command, io: CliIo): void {
  const bond = program.command('bond').description("Shows or changes a solver's bond.")
  takesContract(bond.command('show').description('Shows the bond of a solver.'))
    .requiredOption('--solver <address>', "the solver's address", readAddress)
    .action((options: Options & { solver: Address }) =>
      withContract(options, (contract) => show(io, options, contract, options.solver)),
    )
  const addChange = (name: string, functionName: string, description: string, amount?: 'paid' | 'taken') => {
    const command = takesContract(bond.command(name).description(description))
      .option('--key-file <path>', "file with the solver's private key; - is standard input")
      .addHelpText('after', HELP)
      .action((options: ChangeOptions) => change(io, options, functionName, amount === 'paid'))
    if (amount)
      command.requiredOption('--amount <number>', 'in whole bond tokens, such as 1000.5', readAmount)
  }
  addChange('register', 'registerSolver', 'Pays a first bond.', 'paid')
  addChange('add', 'addBond', 'Adds to the bond.', 'paid')
  addChange('unstake', 'requestUnstake', 'Asks for a part of the bond.', 'taken')
  addChange('withdraw', 'executeUnstake', 'Takes that part, 7 days later.')
}

function takesContract(command: Command): Command {
  return command
    .requiredOption('--rpc-url <url>', 'a node of the chain')
    .requiredOption('--settlement <address>', 'the settlement contract', readAddress)
    .option('--json', 'JSON on standard output, for scripts; amounts are decimal strings')
}

async function withContract(options: Options, work: (contract: BondContract) => Promise<void>) {
  const { openBondContract } = await import('../bond-contract.js')
  const contract = await openBondContract(options)
  await work(contract).finally(contract.close)
}

async function change(io: CliIo, options: ChangeOptions, functionName: string, pays: boolean): Promise<void> {
  const account = await readAccount(io, options.keyFile)
  await withContract(options, async (contract) => {
    const say = (line: string) => void io.stderr.write(`${line}\n`)
    const units = options.amount === undefined ? undefined : contract.amountIn(options.amount)
    const sending = { account, say, signal: io.interruption() }
    await contract.change(functionName, units, pays, sending)
    await show(io, options, contract, account.address)
  })
}

async function show(io: CliIo, options: Options, contract: BondContract, solver: Address): Promise<void> {
  const { both, chainId, bondToken, minimum } = contract
  const bond = await contract.bondOf(solver)
  const free = freeBondOf(bond)
  const result = { solver: toChecksumAddress(solver), chainId, bondToken, minimum, free, ...bond }
  const since = bond.unstaking > 0n ? `, from ${formatTime(bond.unlocksAt ?? 0)} on` : ''
  await printResult(io, options, result, ({ fields }) =>
    fields([
      ['solver', result.solver],
      ['bond', bond.registered ? both(bond.total) : 'none'],
      ['free', both(free)],
      ['reserved', both(bond.reserved)],
      ['unstaking', both(bond.unstaking) + since],
      ['minimum', both(minimum)],
    ]),
  )
}
