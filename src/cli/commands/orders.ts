import type { AggregatorClient, ListedOrder } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { MAX_PAGE_SIZE } from '../../domain/field-rules.js'
import { KNOWN_ORDER_STATES, type KnownOrder } from '../../domain/orders/order.js'
import type { Address } from '../../domain/values/hex.js'
import { readAddress, readChainId, readInteger, readOneOf } from '../arguments.js'
import { type InstanceFlags, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { stepOf } from '../order-steps.js'
import type { Display } from '../print-result.js'
import { formatTime } from '../printable.js'
import { LIMITS, printItems } from './print-items.js'

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
    .summary('list the orders of a chain, a user or a solver')
    .description('Lists the orders whose events the instance has published, the newest first.')
    .requiredOption('--chain <id>', 'chain of the deposits', readChainId)
    .option('--user <address>', 'only of this user', readAddress)
    .option('--solver <address>', 'only of this solver', readAddress)
    .option('--state <state>', `only ${KNOWN_ORDER_STATES.join(', ')}`, readOneOf(KNOWN_ORDER_STATES))
    .option('--limit <number>', 'most orders', readInteger(1, LIMITS.most), LIMITS.usual)
    .addHelpText(
      'after',
      "\nAmounts are in the token's smallest unit. With --json, each line is one JSON object.",
    )
  takesInstance(command).action((options: Options) => list(io, options))
}

async function list(io: CliIo, options: Options): Promise<void> {
  const { chain, user, solver, state, limit } = options
  // One more shows whether there are more.
  const filter = { user, solver, state, pageSize: Math.min(limit + 1, MAX_PAGE_SIZE) }
  const calling = { signal: io.interruption() }
  const read = (client: AggregatorClient) => client.listAllOrders(chain, filter, calling)
  await printItems(io, options, 'orders', read, renderOrders)
}

function renderOrders(orders: readonly ListedOrder[], { table }: Display): string {
  if (orders.length === 0) return 'No order matches.\n'
  const columns = [
    { title: 'time' },
    { title: 'state' },
    { title: 'sells' },
    { title: 'buys' },
    { title: 'order id' },
    { title: 'transaction', isMinor: true },
  ] as const
  return table(columns, orders.map(toRow))
}

/** The row of an order, with the time and the transaction of its state. */
function toRow(order: ListedOrder): string[] {
  const step = stepOf(order)
  return [
    step?.blockTime === undefined ? '' : formatTime(step.blockTime),
    order.state,
    amountOf(order.inputAmount, order.inputToken),
    amountOf(order.outputAmount, order.outputToken),
    order.orderId,
    step?.transactionHash ?? '',
  ]
}

function amountOf(amount: bigint | undefined, token: Address | undefined): string {
  return amount === undefined ? '' : `${amount} of ${token}`
}
