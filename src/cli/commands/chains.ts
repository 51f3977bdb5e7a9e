import type { Chain } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { callInstance, type InstanceFlags, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { printResult } from '../print-result.js'

/** Decimals of ERC-20 have 8 bits. An instance may say anything. */
const MAX_DECIMALS = 255

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
    { title: 'name' },
    { title: 'status' },
    { title: 'head', align: 'right' },
    { title: 'protocol' },
    { title: 'settlement' },
    { title: 'solvers', align: 'right' },
    { title: 'minimum bond', align: 'right' },
    { title: 'bond token' },
  ] as const
  const { formatUnits } = await import('viem')
  const rows = chains.map((chain) => toRow(chain, formatUnits))
  await printResult(io, options, chains, ({ table }) => table(columns, rows))
}

function toRow(chain: Chain, formatUnits: (value: bigint, decimals: number) => string): string[] {
  const { bondToken, minimumBond } = chain
  const { address = '', symbol = '', decimals = MAX_DECIMALS + 1 } = bondToken ?? {}
  const isKnown = decimals <= MAX_DECIMALS
  return [
    String(chain.chainId),
    chain.name,
    chain.status,
    String(chain.headBlock ?? ''),
    chain.protocolName,
    chain.settlement,
    String(chain.activeSolvers),
    isKnown ? `${formatUnits(minimumBond, decimals)} ${symbol}` : `${minimumBond} units`,
    address,
  ]
}
