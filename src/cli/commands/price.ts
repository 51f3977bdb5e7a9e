import type { PriceAnswer } from '@quote-aggregator/client'
import type { Command } from 'commander'
import type { Address } from '../../domain/values/hex.js'
import { toChecksumAddress } from '../../signing/checksum.js'
import { readAddress, readAmount, readChainId } from '../arguments.js'
import { callInstance, type InstanceFlags, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { type Display, printResult } from '../print-result.js'
import { formatTime } from '../printable.js'

interface Options extends InstanceFlags {
  readonly chain: number
  readonly sell: Address
  readonly buy: Address
  readonly amount: bigint
  readonly exactOutput?: boolean
}

/** `price`: what a swap would give, without a user. */
export function addPrice(program: Command, io: CliIo): void {
  const command = program
    .command('price')
    .summary('ask what a swap would give')
    .description('Asks the solvers of a chain what a swap would give. Nobody can deposit with the answer.')
    .requiredOption('--chain <id>', 'chain of the solvers', readChainId)
    .requiredOption('--sell <token>', 'token to sell', readAddress)
    .requiredOption('--buy <token>', 'token to buy', readAddress)
    .requiredOption('--amount <number>', 'how much to sell; with --exact-output, how much to buy', readAmount)
    .option('--exact-output', 'fix what is bought: the least to be sold for it is the best price')
    .addHelpText('after', "\nAmounts are whole numbers in the token's smallest unit.")
  takesInstance(command).action((options: Options) => ask(io, options))
}

async function ask(io: CliIo, options: Options): Promise<void> {
  const { chain: chainId, sell: inputToken, buy: outputToken, amount, exactOutput } = options
  const orderType = exactOutput ? 'EXACT_OUTPUT' : 'EXACT_INPUT'
  const answer = await callInstance(io, options, (client) =>
    client.getPrice({ chainId, inputToken, outputToken, orderType, amount }, { signal: io.interruption() }),
  )
  await printResult(io, options, answer, (display) => renderPrice(answer, options, display))
}

function renderPrice(
  { best, offers, asOf }: PriceAnswer,
  { sell, buy }: Options,
  { fields }: Display,
): string {
  return fields([
    ['solver', best.solver],
    ['name', best.name],
    ['sells', `${best.inputAmount} of ${toChecksumAddress(sell)}`],
    ['buys', `${best.outputAmount} of ${toChecksumAddress(buy)}`],
    ['offers', String(offers)],
    ['as of', formatTime(asOf / 1000)],
  ])
}
