import type { Order } from '@quote-aggregator/client'
import type { Command } from 'commander'
import type { Hex } from '../../../protocol/src/values/hex.js'
import { readChainId, readInteger, readOrderId } from '../arguments.js'
import { type Instance, type InstanceFlags, takesInstance } from '../called-instance.js'
import type { CliIo } from '../io.js'
import { renderOrder, stepOf } from '../output/order-view.js'
import { formatTime } from '../output/printable.js'

interface Options extends InstanceFlags {
  readonly chain: number
  readonly watch?: boolean
  readonly finalAfter: number
}

const HOUR = 3600

/** `order`: the state of an order on the settlement contract, once or until its last state. */
export function addOrder(program: Command, io: CliIo): void {
  const command = program
    .command('order')
    .description(
      'Shows the state of an order on the settlement contract. An order that the contract does not know yet is NONE.',
    )
    .argument('<order id>', 'the order id of the quote: 32 bytes in hex', readOrderId)
    .requiredOption('--chain <id>', 'chain of the deposit', readChainId)
    .option('--watch', 'print each state as it comes, until the order is SETTLED or REFUNDED')
    .option(
      '--final-after <s>',
      'with --watch: how long that has to stand, against reorganisations',
      readInteger(0, HOUR),
      30,
    )
    .addHelpText('after', '\nWith --json and --watch, each line is one JSON object.')
  takesInstance(command, io, async (instance, options: Options, orderId: Hex) => {
    if (!options.watch) return read(instance, options, orderId)
    const onLost = () => io.stderr.write('The connection is lost: reconnecting.\n')
    const watching = { finalAfterMs: options.finalAfter * 1000, onLost }
    await instance.printEach(
      (client, calling) => client.watchOrder(options.chain, orderId, { ...calling, ...watching }),
      toLine,
    )
    instance.assertNotInterrupted()
  })
}

function read({ print, amounts }: Instance, { chain }: Options, orderId: Hex): Promise<Order> {
  return print(
    (client, calling) => client.getOrder(chain, orderId, calling),
    async (order, display) => {
      const chains = 'user' in order ? [chain, order.outputChainId] : []
      return renderOrder(order, await amounts.format(...chains), display)
    },
  )
}

function toLine(order: Order): string {
  const line = `${formatTime(Date.now() / 1000)}  ${order.state}`
  const transaction = 'user' in order && stepOf(order)?.transactionHash
  return transaction ? `${line}  transaction ${transaction}` : line
}
