import type { Command } from 'commander'
import { QUOTE_OPTION_RULES } from '../../../protocol/src/field-rules.js'
import { readIn } from '../arguments.js'
import { takesInstance } from '../called-instance.js'
import type { CliIo } from '../io.js'
import { formatTime } from '../output/printable.js'
import { readSwap, SWAP_HELP, type SwapFlags, takesSwap } from '../swap.js'

interface Options extends SwapFlags {
  readonly minDepositWindow?: number
}

/** `price`: what a swap would give, without a user. */
export function addPrice(program: Command, io: CliIo): void {
  const command = program
    .command('price')
    .description('Asks the solvers of a chain what a swap would give. Nobody can deposit with the answer.')
    .addHelpText('after', SWAP_HELP)
  takesSwap(command).option(
    '--min-deposit-window <s>',
    'the price of a quote with the same option, seconds',
    readIn(QUOTE_OPTION_RULES.minDepositWindow),
  )
  takesInstance(command, io, async (instance, options: Options) => {
    const { minDepositWindow } = options
    const swap = { ...(await readSwap(instance, options)), minDepositWindow }
    const { chainId, inputToken, outputToken } = swap
    await instance.print(
      (client, calling) => client.getPrice(swap, calling),
      async ({ best, offers, asOf }, { fields }) => {
        const format = await instance.amounts.format(chainId)
        return fields([
          ['solver', best.solver],
          ['name', best.name],
          ['sells', format(best.inputAmount, inputToken, chainId)],
          ['buys', format(best.outputAmount, outputToken, chainId)],
          ['offers', offers],
          ['as of', formatTime(asOf / 1000)],
        ])
      },
    )
  })
}
