import type { Command } from 'commander'
import { readChainId } from '../arguments.js'
import { callInstance, type InstanceOptions, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { show } from '../show.js'

interface Options extends InstanceOptions {
  readonly chain: number
}

/** `solvers`: who is asked for quotes. */
export function addSolvers(program: Command, io: CliIo): void {
  const command = program
    .command('solvers')
    .summary('list the active solvers of a chain')
    .description('Lists the active solvers of a chain, the longest registered first.')
    .requiredOption('--chain <id>', 'the chain', readChainId)
    .addHelpText('after', '\nExample:\n  quote-aggregator solvers --chain 31337')
  takesInstance(command).action(async (options: Options) => {
    const solvers = await callInstance(io, options, (client) =>
      client.listSolvers(options.chain, { signal: io.interruption() }),
    )
    await show(io, options, solvers, ({ table }) => {
      if (solvers.length === 0) return `No solver is active on chain ${options.chain}.\n`
      return table(
        [{ title: 'solver' }, { title: 'name' }, { title: 'registered' }],
        solvers.map(({ address, name, registeredAt }) => [
          address,
          name,
          new Date(registeredAt).toISOString(),
        ]),
      )
    })
  })
}
