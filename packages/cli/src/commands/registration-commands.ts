import type { Command } from 'commander'
import { readChainId } from '../arguments.js'
import { type InstanceFlags, takesInstance } from '../called-instance.js'
import type { CliIo } from '../io.js'
import { printable } from '../output/printable.js'
import { readAccount } from '../solver-key.js'

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
The private key comes from SOLVER_PRIVATE_KEY or from --key-file, never from an argument. It only signs, and goes nowhere.`

/** `register`: signs and sends a registration. */
export function addRegister(program: Command, io: CliIo): void {
  const command = program
    .command('register')
    .description(
      'Registers a solver, or updates its endpoint and name, and shows the result of one request to the endpoint.',
    )
    .requiredOption('--endpoint <url>', "the solver's base URL: the instance posts to <url>/quote")
    .requiredOption('--name <name>', 'display name, 1 to 64 characters')
    .addHelpText(
      'after',
      `${KEYS}

Example:
  quote-aggregator register --chain 1 --endpoint https://solver.example --name Ada --key-file ~/solver.key`,
    )
  takesInstance(takesSigner(command), io, async (instance, options: RegisterOptions) => {
    const { chain: chainId, endpoint: endpointUrl, name, protocolName, keyFile } = options
    const account = await readAccount(io, keyFile)
    const { signRegistration } = await import('@quote-aggregator/client')
    const signed = await signRegistration(account, { protocolName, chainId, endpointUrl, name })
    await instance.print(
      async (client, calling) => ({
        status: 'registered',
        ...(await client.registerSolver(signed, calling)),
      }),
      ({ address, check }) => {
        const found =
          check && `One request to the endpoint: ${check.outcome}. ${printable(check.explanation)}\n`
        return `${address} is registered on chain ${chainId}.\n${found ?? ''}`
      },
    )
  })
}

/** `unregister`: signs and sends an unregistration. */
export function addUnregister(program: Command, io: CliIo): void {
  const command = program
    .command('unregister')
    .description('Removes a solver from those that get quote requests.')
    .addHelpText('after', KEYS)
  takesInstance(takesSigner(command), io, async (instance, options: SignerOptions) => {
    const { chain: chainId, protocolName, keyFile } = options
    const account = await readAccount(io, keyFile)
    const { signUnregistration } = await import('@quote-aggregator/client')
    const signed = await signUnregistration(account, { protocolName, chainId })
    await instance.print(
      async (client, calling) => ({
        status: 'removed',
        address: await client.unregisterSolver(signed, calling),
      }),
      ({ address }) => `${address} is no longer registered on chain ${chainId}.\n`,
    )
  })
}

/** Adds the options of every command that a solver signs. */
export function takesSigner(command: Command): Command {
  return command
    .requiredOption('--chain <id>', 'the chain', readChainId)
    .option('--key-file <path>', "file with the solver's private key; - is standard input")
    .option('--protocol-name <name>', "the instance's PROTOCOL_NAME, part of what is signed", 'Service')
}
