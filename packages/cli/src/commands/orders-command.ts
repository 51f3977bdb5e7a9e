import type { ListedOrder, OrderStep } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { MAX_PAGE_SIZE } from '../../../protocol/src/field-rules.js'
import { KNOWN_ORDER_STATES, type KnownOrder } from '../../../protocol/src/orders/order.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import { readAddress, readChainId, readInteger, readOneOf } from '../arguments.js'
import { type InstanceFlags, LIMITS, takesInstance } from '../called-instance.js'
import type { CliIo } from '../io.js'
import type { FormatAmount } from '../output/amounts.js'
import { formatTerms, stepOf } from '../output/order-view.js'
import { formatTime } from '../output/printable.js'
import type { Column } from '../output/tables.js'

interface Options extends InstanceFlags {
  readonly chain: number
  readonly user?: Address
  readonly solver?: Address
  readonly state?: KnownOrder['state']
  readonly limit: number
}

/** `orders`: the orders of a chain, the newest first. */
export function addOrders(program: Command, io: CliIo): void {
  const command = program
    .command('orders')
    .description('Lists the orders whose events the instance has published, the newest first.')
    .requiredOption('--chain <id>', 'chain of the deposits', readChainId)
    .option('--user <address>', 'only of this user', readAddress)
    .option('--solver <address>', 'only of this solver', readAddress)
    .option('--state <state>', `only ${KNOWN_ORDER_STATES.join(', ')}`, readOneOf(KNOWN_ORDER_STATES))
    .option('--limit <number>', 'most orders', readInteger(1, LIMITS.most), LIMITS.usual)
    .addHelpText(
      'after',
      "\nAmounts of tokens that are not listed are in the token's smallest unit. With --json, each line is one JSON object.",
    )
  takesInstance(command, io, async (instance, options: Options) => {
    const { chain, limit, user, solver, state } = options
    // One more shows whether there are more.
    const filter = { user, solver, state, pageSize: Math.min(limit + 1, MAX_PAGE_SIZE) }
    await instance.printList(
      'orders',
      limit,
      (client, calling) => client.listAllOrders(chain, filter, calling),
      async (orders, { table }) => {
        if (orders.length === 0) return 'No order matches.\n'
        const chains = new Set(orders.map(({ outputChainId = chain }) => outputChainId).concat(chain))
        return table(columnsOf(await instance.amounts.format(...chains)), orders)
      },
    )
  })
}

/** Time and transaction are those of the order's state. */
function columnsOf(format: FormatAmount): Column<ListedOrder>[] {
  return [
    ['time', (order) => timeOf(stepOf(order))],
    ['state', ({ state }) => state],
    ['sells', (order) => formatTerms(order, format).sells],
    ['buys', (order) => formatTerms(order, format).buys],
    ['order id', ({ orderId }) => orderId],
    ['transaction', (order) => stepOf(order)?.transactionHash, 'minor'],
  ]
}

const timeOf = (step: OrderStep | undefined) => step?.blockTime && formatTime(step.blockTime)
