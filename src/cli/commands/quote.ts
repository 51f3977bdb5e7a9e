import type { Command } from 'commander'
import { DEPOSIT_WINDOW } from '../../domain/field-rules.js'
import type { Address } from '../../domain/hex.js'
import { DEPOSIT_MODES, type DepositMode, type OrderType } from '../../domain/quote.js'
import { readAddress, readAmount, readChainId, readInteger, readOneOf } from '../arguments.js'
import { EXIT } from '../exit-codes.js'
import { CommandFailure } from '../failure.js'
import { callInstance, commandLine, type InstanceFlags, takesInstance } from '../instance.js'
import type { CliIo } from '../io.js'
import { renderAnswer, renderRecord } from '../quote-view.js'
import { show } from '../show.js'

interface Options extends InstanceFlags {
  readonly chain: number
  readonly sell?: Address
  readonly buy?: Address
  readonly amount?: bigint
  readonly exactOutput?: boolean
  readonly user?: Address
  readonly toChain?: number
  readonly mode: DepositMode
  readonly depositWindow?: number
  readonly timeout?: number
  readonly why?: string
}

const MAX_TIMEOUT_MS = 600_000
const EXAMPLES = `
Amounts are whole numbers in the token's smallest unit: 1000000 is 1 of a token with 6 decimals.

Examples, while the demo runs:
  npx quote-aggregator quote --chain 31337 --amount 1000000000000000000 \\
    --sell 0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0 --buy 0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9 \\
    --user 0x70997970C51812dc3A010C7d01b50e0d17dc79C8
  npx quote-aggregator quote --chain 31337 --why <quote id>     who was asked, and what each answered
  npx quote-aggregator quote --chain 31337 --why <x-quote-id>   for a solver: its own result and rank`

/** `quote`: requests offers, or with `--why` shows the record of a quote. */
export function addQuote(program: Command, io: CliIo): void {
  const command = program
    .command('quote')
    .summary('request offers, or show why an offer won')
    .description('Requests an offer from every solver of a chain and lists the valid ones, best first.')
    .requiredOption('--chain <id>', 'chain of the deposit', readChainId)
    .option('--sell <token>', 'token that the user sells', readAddress)
    .option('--buy <token>', 'token that the user buys', readAddress)
    .option('--amount <number>', 'how much to sell; with --exact-output, how much to buy', readAmount)
    .option('--exact-output', 'fix what is bought: the least to be sold for it is the best offer')
    .option('--user <address>', "the user's wallet", readAddress)
    .option(
      '--to-chain <id>',
      'chain on which the output is paid; default: the chain of the deposit',
      readChainId,
    )
    .option(
      '--mode <mode>',
      'contract: call deposit(); address: send to an address',
      readOneOf(DEPOSIT_MODES),
      'CONTRACT',
    )
    .option(
      '--deposit-window <s>',
      'time to deposit, seconds',
      readInteger(DEPOSIT_WINDOW.minimum, DEPOSIT_WINDOW.maximum),
    )
    .option('--timeout <ms>', 'longest wait for solvers, milliseconds', readInteger(1, MAX_TIMEOUT_MS))
    .option(
      '--why <quote id>',
      'request nothing: show the record of this quote; for a solver, the x-quote-id',
    )
    .addHelpText('after', EXAMPLES)
  takesInstance(command).action((options: Options) =>
    options.why === undefined ? ask(io, options) : explain(io, options, options.why),
  )
}

async function ask(io: CliIo, options: Options): Promise<void> {
  const orderType: OrderType = options.exactOutput ? 'EXACT_OUTPUT' : 'EXACT_INPUT'
  const { chain: chainId, toChain: destinationChainId, mode: depositMode, depositWindow } = options
  const swap = { ...readSwap(options), chainId, orderType, destinationChainId, depositMode, depositWindow }
  const calling = { signal: io.interruption(), timeoutMs: options.timeout }
  const answer = await callInstance(io, options, (client) => client.getQuote(swap, calling))
  await show(io, options, answer, (display) =>
    renderAnswer(answer, (command) => commandLine(io, options, command), display),
  )
}

async function explain(io: CliIo, options: Options, quoteId: string): Promise<void> {
  const record = await callInstance(io, options, (client) =>
    client.getQuoteRecord(options.chain, quoteId, { signal: io.interruption() }),
  )
  await show(io, options, record, (display) => renderRecord(record, display))
}

/** @throws CommandFailure with all options that are missing */
function readSwap({ sell, buy, amount, user }: Options) {
  if (sell !== undefined && buy !== undefined && amount !== undefined && user !== undefined)
    return { inputToken: sell, outputToken: buy, amount, user }
  const given = { '--sell': sell, '--buy': buy, '--amount': amount, '--user': user }
  const missing = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [name] : []))
  const message = `A quote needs ${missing.join(', ')} as well. quote --help has an example.`
  throw new CommandFailure(EXIT.badInput, message)
}
