import type { QuoteParams, QuoteStreamParams } from '@quote-aggregator/client'
import { type Command, Option } from 'commander'
import { QUOTE_OPTION_RULES, REFRESH_SECONDS } from '../../../protocol/src/field-rules.js'
import { DEPOSIT_MODES, type DepositMode } from '../../../protocol/src/quotes/quote.js'
import { VERIFY_MODES, type VerifyMode } from '../../../protocol/src/quotes/verification.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import { readAddress, readChainId, readIn, readInteger, readOneOf } from '../arguments.js'
import { askedOffers, assertAsked } from '../asked-offer.js'
import { type Instance, takesInstance } from '../called-instance.js'
import type { CliIo } from '../io.js'
import { toLine } from '../output/quote-stream-view.js'
import { renderAnswer, renderRecord } from '../output/quote-view.js'
import { readSwap, SWAP_HELP, type SwapFlags, takesSwap } from '../swap.js'

interface Options extends SwapFlags {
  readonly user?: Address
  readonly mode: DepositMode
  readonly depositWindow?: number
  readonly minDepositWindow?: number
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
export function addQuote(program: Command, io: CliIo): void {
  const command = program
    .command('quote')
    .description('Requests an offer from every solver of a chain and lists the valid ones, best first.')
  takesSwap(command)
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
    .option('--deposit-window <s>', 'time to deposit, seconds', readIn(QUOTE_OPTION_RULES.depositWindow))
    .option(
      '--min-deposit-window <s>',
      'offers may leave as little time to deposit, seconds; default: all of it',
      readIn(QUOTE_OPTION_RULES.minDepositWindow),
    )
    .addOption(
      new Option('--timeout <ms>', 'longest wait for solvers, milliseconds')
        .argParser(readInteger(1, MAX_TIMEOUT_MS))
        .conflicts('watch'),
    )
    .option(
      '--soft-deadline <ms>',
      'from then on, do not wait for more offers than --min-quotes; 0: wait for all',
      readIn(QUOTE_OPTION_RULES.softDeadlineMs),
    )
    .option(
      '--min-quotes <n>',
      'offers to wait for after the soft deadline; default: 1',
      readIn(QUOTE_OPTION_RULES.minQuotes),
    )
    .option(
      '--verify <mode>',
      'let the settlement contract check offers: off, best or all',
      readOneOf(VERIFY_MODES),
    )
    .option('--watch', 'show each better offer as it comes')
    .addOption(
      new Option('--refresh <s>', 'request offers again this often, for 10 minutes; implies --watch')
        .argParser(readIn(REFRESH_SECONDS))
        .implies({ watch: true }),
    )
    .option(
      '--why <quote id>',
      'request nothing: show the record of this quote; for a solver, the x-quote-id',
    )
    .addHelpText('after', EXAMPLES)
  takesInstance(command, io, async (instance, options: Options) => {
    if (options.why !== undefined) return explain(instance, options.chain, options.why)
    const { user } = options
    const swap = await readSwap(instance, options, { '--user': user })
    const params: QuoteParams = {
      ...swap,
      user: user ?? '0x',
      destinationChainId: options.toChain,
      depositMode: options.mode,
      depositWindow: options.depositWindow,
      minDepositWindow: options.minDepositWindow,
      softDeadlineMs: options.softDeadline,
      minQuotes: options.minQuotes,
      verify: options.verify,
    }
    if (!options.watch) return ask(instance, params, options.timeout)
    await watch(instance, { ...params, refreshSeconds: options.refresh })
  })
}

function ask({ print, amounts, commandLine }: Instance, params: QuoteParams, timeoutMs?: number) {
  const { chainId, destinationChainId = chainId } = params
  return print(
    async (client, calling) => assertAsked(params, await client.getQuote(params, { ...calling, timeoutMs })),
    async (answer, display) => {
      const format = await amounts.format(chainId, destinationChainId)
      return renderAnswer(answer, params, format, commandLine, display)
    },
  )
}

async function watch(instance: Instance, params: QuoteStreamParams): Promise<void> {
  const { chainId, destinationChainId = chainId } = params
  await instance.printEach(
    (client, calling) => askedOffers(params, client.streamQuotes(params, calling)),
    async (message) => toLine(message, chainId, await instance.amounts.format(chainId, destinationChainId)),
  )
  instance.assertNotInterrupted()
}

function explain({ print, amounts }: Instance, chainId: number, quoteId: string) {
  return print(
    (client, calling) => client.getQuoteRecord(chainId, quoteId, calling),
    async (record, display) => {
      const format = await amounts.format(chainId, record.request.destinationChainId)
      return renderRecord(record, format, display)
    },
  )
}
