import type { OrderEvent } from '@quote-aggregator/client'
import type { Command } from 'commander'
import type { Hex } from '../../../protocol/src/values/hex.js'
import { readEach, readOrderId } from '../arguments.js'
import { takesInstance } from '../called-instance.js'
import { type EventSelection, selectsEvents, toEventFilter } from '../event-selection.js'
import type { CliIo } from '../io.js'
import type { Amounts } from '../output/amounts.js'
import { formatTerms } from '../output/order-view.js'
import { printable, shellWord } from '../output/printable.js'

interface Options extends EventSelection {
  readonly order?: readonly Hex[]
  readonly after?: string
}

/** `watch`: prints every order event as it comes. */
export function addWatch(program: Command, io: CliIo): void {
  const command = program
    .command('watch')
    .description(
      'Prints each order event as it comes, until Ctrl-C, which prints the last cursor. It reconnects after a lost connection without a gap.',
    )
  selectsEvents(command)
    .option('--order <order id>', 'only of this order', readEach(readOrderId))
    .option('--after <cursor>', 'begin after this cursor; earliest begins with the oldest event kept')
    .addHelpText('after', '\nWith --json, each line is one JSON object, with its cursor.')
  takesInstance(command, io, async (instance, options: Options) => {
    const { after, order: orderIds } = options
    let cursor = after
    const say = (line: string) => void io.stderr.write(`${line}\n`)
    const listening = {
      onConnected(opening: { readonly cursor: string; readonly supportedChains: readonly number[] }) {
        cursor ??= opening.cursor
        say(`Connected: chains ${opening.supportedChains.join(', ')}. Ctrl-C ends this.`)
      },
      onLost: (error: Error) => say(`The connection is lost: reconnecting. ${printable(error.message)}`),
    }
    await instance.printEach(
      async function* (client, calling) {
        const filter = { ...toEventFilter(options), after, orderIds }
        for await (const event of client.streamEvents(filter, { ...calling, ...listening })) {
          yield event
          cursor = event.cursor
        }
      },
      (event) => toLine(event, instance.amounts),
    )
    if (cursor === undefined) return
    const word = printable(shellWord(cursor))
    say(`The last cursor is ${printable(cursor)}: continue with --after ${word}`)
  })
}

async function toLine(event: OrderEvent, amounts: Amounts): Promise<string> {
  const { type, chainId, blockNumber, orderId } = event
  const head = `${type.padEnd('Deposited'.length)}  chain ${chainId}  block ${blockNumber}  order ${orderId}`
  const transaction = event.transactionHash === undefined ? [] : [`transaction ${event.transactionHash}`]
  return printable([head, ...(await details(event, amounts)), ...transaction].join('  '))
}

async function details(event: OrderEvent, amounts: Amounts): Promise<string[]> {
  const { chainId } = event
  switch (event.type) {
    case 'Deposited': {
      const order = { ...event, outputChainId: chainId }
      const { sells, buys } = formatTerms(order, await amounts.format(chainId))
      return [`user ${event.user}`, `solver ${event.solver}`, `sells ${sells}`, `buys ${buys}`]
    }
    case 'Refunded': {
      const formatBond = await amounts.formatBond(chainId)
      const slashed = `bond slashed ${formatBond(event.bondSlashed)}`
      return [`user ${event.user}`, `refund ${event.inputAmount} units`, slashed]
    }
    case 'Reverted':
      return [`removes ${event.event}`]
    case 'Settled':
      return event.user === undefined ? [] : [`user ${event.user}`, `solver ${event.solver}`]
  }
}
