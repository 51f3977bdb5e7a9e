import type { Order } from '@quote-aggregator/client'
import type { Command } from 'commander'
import type { Hex } from '../../domain/values/hex.js'
import { readChainId, readInteger, readOrderId } from '../arguments.js'
import { EXIT } from '../exit-codes.js'
import { CommandFailure } from '../failure.js'
import { callInstance, type InstanceFlags, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { formatStep, stepOf } from '../order-steps.js'
import { type Display, printResult } from '../print-result.js'
import { formatTime, toJson } from '../printable.js'

interface Options extends InstanceFlags {
  readonly chain: number
  readonly watch?: boolean
  readonly finalAfter: number
}

const FINAL_AFTER_SECONDS = 30
const HOUR = 3600

/** `order`: the state of an order on the settlement contract, once or until its last state. */
export function addOrder(program: Command, io: CliIo): void {
  const command = program
    .command('order')
    .summary('show or follow an order')
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
      FINAL_AFTER_SECONDS,
    )
    .addHelpText('after', '\nWith --json and --watch, each line is one JSON object.')
  takesInstance(command).action((orderId: Hex, options: Options) =>
    options.watch ? watch(io, options, orderId) : read(io, options, orderId),
  )
}

async function read(io: CliIo, options: Options, orderId: Hex): Promise<void> {
  const order = await callInstance(io, options, (client) =>
    client.getOrder(options.chain, orderId, { signal: io.interruption() }),
  )
  await printResult(io, options, order, (display) => renderOrder(order, display))
}

async function watch(io: CliIo, options: Options, orderId: Hex): Promise<void> {
  const signal = io.interruption()
  await callInstance(io, options, async (client) => {
    const orders = client.watchOrder(options.chain, orderId, {
      signal,
      finalAfterMs: options.finalAfter * 1000,
      onLost: () => io.stderr.write('The connection is lost: reconnecting.\n'),
    })
    for await (const order of orders) {
      io.stdout.write(options.json ? `${toJson(order)}\n` : `${toLine(order)}\n`)
    }
  })
  if (signal.aborted) throw new CommandFailure(EXIT.interrupted)
}

function toLine(order: Order): string {
  const line = `${formatTime(Date.now() / 1000)}  ${order.state}`
  const transaction = 'user' in order && stepOf(order)?.transactionHash
  return transaction ? `${line}  transaction ${transaction}` : line
}

function renderOrder(order: Order, { fields }: Display): string {
  const head = [
    ['order id', order.orderId],
    ['chain', String(order.chainId)],
    ['state', order.state],
  ] as const
  if (!('user' in order)) return fields(head)
  return fields([
    ...head,
    ['user', order.user],
    ['solver', order.solver],
    ['sells', `${order.inputAmount} of ${order.inputToken}`],
    ['buys', `${order.outputAmount} of ${order.outputToken} on chain ${order.outputChainId}`],
    ['filled by', formatTime(order.fillDeadline)],
    ['deposited', order.deposited && formatStep(order.deposited)],
    ['settled', order.settled && formatStep(order.settled)],
    ['refunded', order.refunded && formatStep(order.refunded)],
  ])
}
