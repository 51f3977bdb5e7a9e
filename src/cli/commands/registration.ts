import type { RegistrationCheck } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { readChainId } from '../arguments.js'
import { callInstance, type InstanceFlags, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { readAccount } from '../keys.js'
import { printResult } from '../print-result.js'
import { printable } from '../printable.js'

/** The options of a command that a solver signs. */
export interface SignerOptions extends InstanceFlags {
  readonly chain: number
  readonly protocolName: string
  readonly keyFile?: string
}

interface RegisterOptions extends SignerOptions {
  readonly endpoint: string
  readonly name: string
}

/** The help on keys. */
export const KEYS = `
The private key comes from SOLVER_PRIVATE_KEY or from --key-file, never from an argument. It signs one text and goes
nowhere.`

/** `register`: signs and sends a registration. */
export function addRegister(program: Command, io: CliIo): void {
  const command = program
    .command('register')
    .summary('register a solver')
    .description(
      'Registers a solver, or updates its endpoint and name, and shows the result of one request to the endpoint.',
    )
    .requiredOption('--endpoint <url>', "the solver's base URL: the instance posts to <url>/quote")
    .requiredOption('--name <name>', 'display name, 1 to 64 characters')
  takesSigner(command).addHelpText(
    'after',
    `${KEYS}

Examples:
  SOLVER_PRIVATE_KEY=$(pass show solver) quote-aggregator register --chain 1 --endpoint https://solver.example --name Ada
  quote-aggregator register --chain 1 --endpoint https://solver.example --name Ada --key-file ~/solver.key`,
  )
  command.action(async (options: RegisterOptions) => {
    const { chain: chainId, endpoint: endpointUrl, name, protocolName } = options
    const account = await readAccount(io, options.keyFile)
    const { signRegistration } = await import('@quote-aggregator/client')
    const signed = await signRegistration(account, { protocolName, chainId, endpointUrl, name })
    const { address, check } = await callInstance(io, options, (client) =>
      client.registerSolver(signed, { signal: io.interruption() }),
    )
    await printResult(
      io,
      options,
      { status: 'registered', address, check },
      () => `${address} is registered on chain ${chainId}.\n${check ? checkText(check) : ''}`,
    )
  })
}

function checkText({ outcome, explanation }: RegistrationCheck): string {
  return `One request to the endpoint: ${outcome}. ${printable(explanation)}\n`
}

/** `unregister`: signs and sends an unregistration. */
export function addUnregister(program: Command, io: CliIo): void {
  const command = program
    .command('unregister')
    .summary('remove a solver')
    .description('Removes a solver from those that get quote requests.')
  takesSigner(command).addHelpText('after', KEYS)
  command.action(async (options: SignerOptions) => {
    const { chain: chainId, protocolName } = options
    const account = await readAccount(io, options.keyFile)
    const { signUnregistration } = await import('@quote-aggregator/client')
    const signed = await signUnregistration(account, { protocolName, chainId })
    const address = await callInstance(io, options, (client) =>
      client.unregisterSolver(signed, { signal: io.interruption() }),
    )
    await printResult(
      io,
      options,
      { status: 'removed', address },
      () => `${address} is no longer registered on chain ${chainId}.\n`,
    )
  })
}

/** Adds the options of every command that a solver signs. */
export function takesSigner(command: Command): Command {
  command
    .requiredOption('--chain <id>', 'the chain', readChainId)
    .option('--key-file <path>', "file with the solver's private key; - is standard input")
    .option('--protocol-name <name>', "the instance's PROTOCOL_NAME, part of what is signed", 'Service')
  return takesInstance(command)
}
