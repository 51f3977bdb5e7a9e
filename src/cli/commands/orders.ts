import type { ListedOrder } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { MAX_PAGE_SIZE } from '../../domain/field-rules.js'
import { KNOWN_ORDER_STATES, type KnownOrder } from '../../domain/orders/order.js'
import type { Address } from '../../domain/values/hex.js'
import { readAddress, readChainId, readInteger, readOneOf } from '../arguments.js'
import { callInstance, type InstanceFlags, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { stepOf } from '../order-steps.js'
import { createDisplay, type Display } from '../print-result.js'
import { formatTime, toJson } from '../printable.js'

interface Options extends InstanceFlags {
  readonly chain: number
  readonly user?: Address
  readonly solver?: Address
  readonly state?: KnownOrder['state']
  readonly limit: number
}

const LIMIT = 20
/** Its pages fit into the requests that an instance allows in a minute (RATE_LIMIT_ORDER). */
const MAX_LIMIT = 10_000

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
    .option('--limit <number>', 'most orders', readInteger(1, MAX_LIMIT), LIMIT)
    .addHelpText(
      'after',
      "\nAmounts are in the token's smallest unit. With --json, each line is one JSON object.",
    )
  takesInstance(command).action((options: Options) => list(io, options))
}

async function list(io: CliIo, options: Options): Promise<void> {
  const { chain, user, solver, state, limit } = options
  const rows: ListedOrder[] = []
  let count = 0
  let isCut = false
  const listing = callInstance(io, options, async (client) => {
    // One more shows whether there are more.
    const pageSize = Math.min(limit + 1, MAX_PAGE_SIZE)
    const filter = { user, solver, state, pageSize }
    for await (const order of client.listAllOrders(chain, filter, { signal: io.interruption() })) {
      isCut = count === limit
      if (isCut) break
      count++
      if (options.json) io.stdout.write(`${toJson(order)}\n`)
      else rows.push(order)
    }
  })
  await listing.catch(async (error) => {
    // A later page has failed.
    if (rows.length > 0) io.stdout.write(renderOrders(rows, await createDisplay(io)))
    throw error
  })
  if (!options.json) io.stdout.write(renderOrders(rows, await createDisplay(io)))
  if (isCut) io.stderr.write(`There are more orders: list more with --limit, up to ${MAX_LIMIT}.\n`)
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
