import type { QuoteParams } from '@quote-aggregator/client'
import { type Command, Option } from 'commander'
import {
  DEPOSIT_WINDOW,
  MAX_QUOTE_TIMEOUT_MS,
  MIN_QUOTES,
  REFRESH_SECONDS,
} from '../../domain/field-rules.js'
import { DEPOSIT_MODES, type DepositMode } from '../../domain/quotes/quote.js'
import { VERIFY_MODES, type VerifyMode } from '../../domain/quotes/verification.js'
import type { Address } from '../../domain/values/hex.js'
import { readAddress, readAmount, readChainId, readInteger, readOneOf, readToken } from '../arguments.js'
import { EXIT } from '../exit-codes.js'
import { CommandFailure } from '../failure.js'
import { callInstance, commandLine, type InstanceFlags, takesInstance } from '../instance.js'
import type { GuardedIo } from '../io.js'
import { type FormatAmount, readSwap, SWAP_HELP } from '../listed-tokens.js'
import { printResult } from '../print-result.js'
import { renderAnswer, renderRecord } from '../quote-view.js'
import { watchQuotes } from './quote-watch.js'

interface Options extends InstanceFlags {
  readonly chain: number
  readonly sell?: string
  readonly buy?: string
  readonly amount?: string
  readonly exactOutput?: boolean
  readonly user?: Address
  readonly toChain?: number
  readonly mode: DepositMode
  readonly depositWindow?: number
  readonly timeout?: number
  readonly softDeadline?: number
  readonly minQuotes?: number
  readonly verify?: VerifyMode
  readonly watch?: boolean
  readonly refresh?: number
  readonly why?: string
}

const MAX_TIMEOUT_MS = 600_000
const EXAMPLES = `${SWAP_HELP}

Examples, while the demo runs:
  npx quote-aggregator quote --chain 31337 --amount 1.5 --sell WETH --buy USDC \\
    --user 0x70997970C51812dc3A010C7d01b50e0d17dc79C8
  npx quote-aggregator quote <the same> --refresh 15            each better offer, again every 15 s
  npx quote-aggregator quote --chain 31337 --why <quote id>     who was asked, and what each answered
  npx quote-aggregator quote --chain 31337 --why <x-quote-id>   for a solver: its own result and rank`

/** `quote`: requests offers, or with `--why` shows the record of a quote. */
export function addQuote(program: Command, io: GuardedIo): void {
  const command = program
    .command('quote')
    .summary('request offers, or show why an offer won')
    .description('Requests an offer from every solver of a chain and lists the valid ones, best first.')
    .requiredOption('--chain <id>', 'chain of the deposit', readChainId)
    .option('--sell <token>', 'token that the user sells', readToken)
    .option('--buy <token>', 'token that the user buys', readToken)
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
    .addOption(
      new Option('--timeout <ms>', 'longest wait for solvers, milliseconds')
        .argParser(readInteger(1, MAX_TIMEOUT_MS))
        .conflicts('watch'),
    )
    .option(
      '--soft-deadline <ms>',
      'from then on, do not wait for more offers than --min-quotes',
      readInteger(1, MAX_QUOTE_TIMEOUT_MS),
    )
    .option(
      '--min-quotes <n>',
      'offers to wait for after the soft deadline; default: 1',
      readInteger(MIN_QUOTES.minimum, MIN_QUOTES.maximum),
    )
    .option(
      '--verify <mode>',
      'let the settlement contract check offers: off, best or all',
      readOneOf(VERIFY_MODES),
    )
    .option('--watch', 'show each better offer as it comes')
    .addOption(
      new Option('--refresh <s>', 'request offers again this often, for 10 minutes; implies --watch')
        .argParser(readInteger(REFRESH_SECONDS.minimum, REFRESH_SECONDS.maximum))
        .implies({ watch: true }),
    )
    .option(
      '--why <quote id>',
      'request nothing: show the record of this quote; for a solver, the x-quote-id',
    )
    .addHelpText('after', EXAMPLES)
  takesInstance(command).action(async (options: Options) => {
    if (options.why !== undefined) return explain(io, options, options.why)
    const { params, format } = await readParams(io, options)
    if (!options.watch) return ask(io, options, params, format)
    return watchQuotes(io, options, { ...params, refreshSeconds: options.refresh }, format)
  })
}

async function ask(io: GuardedIo, options: Options, swap: QuoteParams, format: FormatAmount): Promise<void> {
  const calling = { signal: io.interruption(), timeoutMs: options.timeout }
  const answer = await callInstance(io, options, (client) => client.getQuote(swap, calling))
  await printResult(io, options, answer, (display) =>
    renderAnswer(answer, format, (command) => commandLine(io, options, command), display),
  )
}

async function explain(io: GuardedIo, options: Options, quoteId: string): Promise<void> {
  const record = await callInstance(io, options, (client) =>
    client.getQuoteRecord(options.chain, quoteId, { signal: io.interruption() }),
  )
  await printResult(io, options, record, (display) => renderRecord(record, display))
}

/** @throws CommandFailure */
async function readParams(io: GuardedIo, options: Options) {
  const { sell, buy, amount, user } = options
  if (sell === undefined || buy === undefined || amount === undefined || user === undefined) {
    const given = { '--sell': sell, '--buy': buy, '--amount': amount, '--user': user }
    const missing = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [name] : []))
    const message = `A quote needs ${missing.join(', ')} as well. quote --help has an example.`
    throw new CommandFailure(EXIT.badInput, message)
  }
  const { format, ...swap } = await readSwap(io, { ...options, sell, buy, amount })
  const params: QuoteParams = {
    ...swap,
    user,
    chainId: options.chain,
    orderType: options.exactOutput ? 'EXACT_OUTPUT' : 'EXACT_INPUT',
    destinationChainId: options.toChain,
    depositMode: options.mode,
    depositWindow: options.depositWindow,
    softDeadlineMs: options.softDeadline,
    minQuotes: options.minQuotes,
    verify: options.verify,
  }
  return { params, format }
}
