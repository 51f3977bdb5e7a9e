import type { Chain } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { takesInstance } from '../called-instance.js'
import type { CliIo } from '../io.js'
import { bondFormat } from '../output/amounts.js'
import type { Column } from '../output/tables.js'

/** `chains`: the chains that an instance serves. */
export function addChains(program: Command, io: CliIo): void {
  const command = program
    .command('chains')
    .description(
      'Lists the chains that the instance serves, with their settlement contracts. --json has all facts.',
    )
  takesInstance(command, io, (instance) =>
    instance.print(
      (client, calling) => client.listChains(calling),
      async (chains, { table }) => {
        const format = await bondFormat()
        const columns: Column<Chain>[] = [
          ['chain', ({ chainId }) => chainId],
          ['name', ({ name }) => name],
          ['status', ({ status }) => status],
          ['head', ({ headBlock }) => headBlock],
          ['protocol', ({ protocolName }) => protocolName],
          ['settlement', ({ settlement }) => settlement],
          ['solvers', ({ activeSolvers }) => activeSolvers],
          ['minimum bond', ({ bondToken, minimumBond }) => format(bondToken)(minimumBond), 'amount'],
          ['bond token', ({ bondToken }) => bondToken?.address],
        ]
        return table(columns, chains)
      },
    ),
  )
}
