import type { OrderEvent } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { ORDER_EVENT_TYPES } from '../../domain/orders/event.js'
import type { Address, Hex } from '../../domain/values/hex.js'
import { readAddress, readChainId, readEach, readOneOf, readOrderId } from '../arguments.js'
import { callInstance, type InstanceFlags, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { printable, shellWord, toJson } from '../printable.js'

interface Options extends InstanceFlags {
  readonly chain?: readonly number[]
  readonly type?: readonly OrderEvent['type'][]
  readonly user?: readonly Address[]
  readonly solver?: readonly Address[]
  readonly order?: readonly Hex[]
  readonly after?: string
}

const TYPES = [...ORDER_EVENT_TYPES, 'Reverted'] as const

/** `watch`: prints every order event as it comes. */
export function addWatch(program: Command, io: CliIo): void {
  const command = program
    .command('watch')
    .summary('print order events as they come')
    .description(
      'Prints each order event as it comes, until Ctrl-C, which prints the last cursor. It reconnects after a lost connection without a gap.',
    )
    .option('--chain <id>', 'only of this chain; this and the others may be repeated', readEach(readChainId))
    .option('--type <type>', `only ${TYPES.join(', ')}`, readEach(readOneOf(TYPES)))
    .option('--user <address>', 'only of this user', readEach(readAddress))
    .option('--solver <address>', 'only of this solver', readEach(readAddress))
    .option('--order <order id>', 'only of this order', readEach(readOrderId))
    .option('--after <cursor>', 'begin after this cursor; earliest begins with the oldest event kept')
    .addHelpText('after', '\nWith --json, each line is one JSON object, with its cursor.')
  takesInstance(command).action((options: Options) => watch(io, options))
}

async function watch(io: CliIo, options: Options): Promise<void> {
  const signal = io.interruption()
  let cursor = options.after
  const filter = {
    after: options.after,
    chainIds: options.chain,
    types: options.type,
    orderIds: options.order,
    users: options.user,
    solvers: options.solver,
  }
  await callInstance(io, options, async (client) => {
    const events = client.streamEvents(filter, {
      signal,
      onConnected(opening) {
        cursor ??= opening.cursor
        io.stderr.write(`Connected: chains ${opening.supportedChains.join(', ')}. Ctrl-C ends this.\n`)
      },
      onLost: ({ message }) =>
        io.stderr.write(`The connection is lost: reconnecting. ${printable(message)}\n`),
    })
    for await (const event of events) {
      io.stdout.write(options.json ? `${toJson(event)}\n` : `${toLine(event)}\n`)
      cursor = event.cursor
    }
  })
  if (cursor === undefined) return
  const word = printable(shellWord(cursor))
  io.stderr.write(`The last cursor is ${printable(cursor)}: continue with --after ${word}\n`)
}

function toLine(event: OrderEvent): string {
  const { type, chainId, blockNumber, orderId } = event
  const head = `${type.padEnd('Deposited'.length)}  chain ${chainId}  block ${blockNumber}  order ${orderId}`
  const transaction = event.transactionHash === undefined ? [] : [`transaction ${event.transactionHash}`]
  return printable([head, ...details(event), ...transaction].join('  '))
}

function details(event: OrderEvent): string[] {
  switch (event.type) {
    case 'Deposited':
      return [
        `user ${event.user}`,
        `solver ${event.solver}`,
        `sells ${event.inputAmount} of ${event.inputToken}`,
        `buys ${event.outputAmount} of ${event.outputToken}`,
      ]
    case 'Refunded':
      return [`user ${event.user}`, `refund ${event.inputAmount}`, `bond slashed ${event.bondSlashed}`]
    case 'Reverted':
      return [`removes ${event.event}`]
    case 'Settled':
      return event.user === undefined ? [] : [`user ${event.user}`, `solver ${event.solver}`]
  }
}
