import type { PriceAnswer } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { readAmount, readChainId, readToken } from '../arguments.js'
import { callInstance, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { type FormatAmount, readSwap, SWAP_HELP, type SwapFlags } from '../listed-tokens.js'
import { type Display, printResult } from '../print-result.js'
import { formatTime } from '../printable.js'

/** `price`: what a swap would give, without a user. */
export function addPrice(program: Command, io: CliIo): void {
  const command = program
    .command('price')
    .summary('ask what a swap would give')
    .description('Asks the solvers of a chain what a swap would give. Nobody can deposit with the answer.')
    .requiredOption('--chain <id>', 'chain of the solvers', readChainId)
    .requiredOption('--sell <token>', 'token to sell', readToken)
    .requiredOption('--buy <token>', 'token to buy', readToken)
    .requiredOption('--amount <number>', 'how much to sell; with --exact-output, how much to buy', readAmount)
    .option('--exact-output', 'fix what is bought: the least to be sold for it is the best price')
    .addHelpText('after', SWAP_HELP)
  takesInstance(command).action((options: SwapFlags) => ask(io, options))
}

async function ask(io: CliIo, options: SwapFlags): Promise<void> {
  const { format, ...swap } = await readSwap(io, options)
  const orderType = options.exactOutput ? 'EXACT_OUTPUT' : 'EXACT_INPUT'
  const params = { ...swap, chainId: options.chain, orderType } as const
  const answer = await callInstance(io, options, (client) =>
    client.getPrice(params, { signal: io.interruption() }),
  )
  await printResult(io, options, answer, (display) => renderPrice(answer, format, display))
}

function renderPrice({ best, offers, asOf }: PriceAnswer, format: FormatAmount, { fields }: Display): string {
  return fields([
    ['solver', best.solver],
    ['name', best.name],
    ['sells', format('sells', best.inputAmount, 'with address')],
    ['buys', format('buys', best.outputAmount, 'with address')],
    ['offers', String(offers)],
    ['as of', formatTime(asOf / 1000)],
  ])
}
