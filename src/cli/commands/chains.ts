import type { Chain } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { callInstance, type InstanceFlags, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { printResult } from '../print-result.js'

/** `chains`: the chains that an instance serves. */
export function addChains(program: Command, io: CliIo): void {
  const command = program
    .command('chains')
    .summary('list the chains of the instance')
    .description(
      'Lists the chains that the instance serves, with their settlement contracts. --json has all facts.',
    )
  takesInstance(command).action((options: InstanceFlags) => list(io, options))
}

async function list(io: CliIo, options: InstanceFlags): Promise<void> {
  const chains = await callInstance(io, options, (client) => client.listChains({ signal: io.interruption() }))
  const columns = [
    { title: 'chain', align: 'right' },
    { title: 'status' },
    { title: 'head', align: 'right' },
    { title: 'protocol' },
    { title: 'settlement' },
    { title: 'solvers', align: 'right' },
    { title: 'minimum bond', align: 'right' },
    { title: 'bond token' },
  ] as const
  await printResult(io, options, chains, ({ table }) => table(columns, chains.map(toRow)))
}

function toRow(chain: Chain): string[] {
  const { bondToken } = chain
  return [
    String(chain.chainId),
    chain.status,
    String(chain.headBlock ?? ''),
    chain.protocolName,
    chain.settlement,
    String(chain.activeSolvers),
    String(chain.minimumBond),
    [bondToken?.address, bondToken?.symbol].filter((text) => text !== undefined).join(' '),
  ]
}
