import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { AggregatorClient, OfferCheck } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { ORDER_TYPES } from '../../../protocol/src/quotes/quote.js'
import { readChainId } from '../arguments.js'
import { type InstanceFlags, takesInstance } from '../called-instance.js'
import { badInput, refused, unavailable } from '../command-failure.js'
import type { CliIo } from '../io.js'
import type { Display } from '../output/print-result.js'
import { formatTime } from '../output/printable.js'

interface Options extends InstanceFlags {
  readonly chain: number
}

const HELP = `
The file has the offer as JSON: what quote --json printed, of which the best offer counts, or one offer of it. It may be of
another instance. The answer can only stop a deposit, never permit one: the state may change before the deposit is mined.

  npx quote-aggregator quote <a swap> --json > quote.json
  npx quote-aggregator check-offer quote.json --chain 31337

The exit code is 0 for VALID, 4 for DEAD and TAKEN, and 3 for UNKNOWN.`

/** `check-offer`: whether an offer can still be deposited (docs/decisions.md, D33). */
export function addCheckOffer(program: Command, io: CliIo): void {
  const command = program
    .command('check-offer')
    .description(
      'Asks the settlement contract, through the instance, whether an offer can still be deposited.',
    )
    .argument('<file>', 'the offer as JSON; - for standard input')
    .requiredOption('--chain <id>', 'chain of the deposit', readChainId)
    .addHelpText('after', HELP)
  takesInstance(command, io, async (instance, { chain }: Options, path: string) => {
    const json = await (path === '-' ? text(io.stdin) : readFile(path, 'utf8')).catch((error) => {
      throw badInput(`${path} cannot be read (${error.code}).`)
    })
    const offer = parseOffer(json)
    const { state } = await instance.print(
      (client, calling) => client.checkOffer(chain, offer, calling),
      renderCheck,
    )
    if (state === 'DEAD' || state === 'TAKEN') throw refused(`The offer is ${state}.`)
    if (state !== 'VALID') throw unavailable('The contract was not read: try again.')
  })
}

/** Reads an offer as `quote --json` prints it, or as REST has it. The instance checks its fields. @throws CommandFailure */
function parseOffer(text: string): Parameters<AggregatorClient['checkOffer']>[1] {
  try {
    const json = JSON.parse(text)
    const { quote, signature, solverSignature, orderId } = json.best ?? json
    const orderType = ORDER_TYPES[quote.orderType] ?? quote.orderType
    return { quote: { ...quote, orderType }, signature: signature ?? solverSignature, orderId }
  } catch {
    const message = 'The file must have an offer as JSON, as quote --json prints it.'
    throw badInput(message)
  }
}

function renderCheck(check: OfferCheck, { fields }: Display): string {
  const { orderId, state, code, refusal, block, blockTime, expiresAt, retryAfterMs } = check
  return fields([
    ['order id', orderId],
    ['state', code === undefined ? state : `${state}: ${code}${refusal === undefined ? '' : ` ${refusal}`}`],
    ['block', block],
    ['read at', blockTime === undefined ? undefined : formatTime(blockTime)],
    ['deposit by', formatTime(expiresAt / 1000)],
    ['ask again in', retryAfterMs === undefined ? undefined : `${retryAfterMs} ms`],
  ])
}
