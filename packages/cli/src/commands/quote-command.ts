import type { PriceParams, QuoteParams, QuoteStreamParams } from '@quote-aggregator/client'
import { type Command, Option } from 'commander'
import { QUOTE_OPTION_RULES, REFRESH_SECONDS } from '../../../protocol/src/field-rules.js'
import { DEPOSIT_MODES, type DepositMode } from '../../../protocol/src/quotes/quote.js'
import { VERIFY_MODES, type VerifyMode } from '../../../protocol/src/quotes/verification.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import { readAddress, readAmount, readChainId, readIn, readOneOf, readToken } from '../arguments.js'
import { askedOffers, assertAsked } from '../asked-offer.js'
import { type Instance, takesInstance } from '../called-instance.js'
import type { CliIo } from '../io.js'
import { toLine } from '../output/quote-stream-view.js'
import { renderAnswer, renderPrice, renderRecord } from '../output/quote-view.js'
import { readSwap, type SwapFlags } from '../swap.js'

interface Options extends SwapFlags {
  readonly user?: Address
  readonly mode: DepositMode
  readonly depositWindow?: number
  readonly minDepositWindow?: number
  readonly softDeadline?: number
  readonly minQuotes?: number
  readonly verify?: VerifyMode
  readonly watch?: boolean
  readonly refresh?: number
  readonly why?: string
}

const HELP = `
Tokens are addresses, or symbols of tokens that the operator of the instance has listed. The amount of a symbol is in the token: 1.5.
The amount of an address is a whole number in the token's smallest unit: 1000000 is 1 of a token with 6 decimals.

Examples, while the demo runs:
  npx quote-aggregator quote --chain 31337 --amount 1.5 --sell WETH --buy USDC \\
    --user 0x70997970C51812dc3A010C7d01b50e0d17dc79C8
  npx quote-aggregator quote --chain 31337 --why <quote id>     who was asked, and what each answered`

/** `quote`: requests offers, without a user a price; with `--why` shows the record of a quote. */
export function addQuote(program: Command, io: CliIo): void {
  const command = program
    .command('quote')
    .description(
      'Requests an offer from every solver of a chain and lists the valid ones, best first. Without --user it shows the best price, with which nobody can deposit.',
    )
    .requiredOption('--chain <id>', 'chain of the deposit', readChainId)
    .option('--sell <token>', 'token to sell', readToken)
    .option('--buy <token>', 'token to buy', readToken)
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
    .option('--deposit-window <s>', 'time to deposit, seconds', readIn(QUOTE_OPTION_RULES.depositWindow))
    .option(
      '--min-deposit-window <s>',
      'offers may leave as little time to deposit, seconds; default: all of it',
      readIn(QUOTE_OPTION_RULES.minDepositWindow),
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
    .addHelpText('after', HELP)
  takesInstance(command, io, async (instance, options: Options) => {
    if (options.why !== undefined) return explain(instance, options.chain, options.why)
    const { user, minDepositWindow } = options
    const swap = await readSwap(instance, options, options.watch ? { '--user': user } : {})
    if (user === undefined) return price(instance, { ...swap, minDepositWindow })
    const params: QuoteParams = {
      ...swap,
      user,
      destinationChainId: options.toChain,
      depositMode: options.mode,
      depositWindow: options.depositWindow,
      minDepositWindow,
      softDeadlineMs: options.softDeadline,
      minQuotes: options.minQuotes,
      verify: options.verify,
    }
    if (!options.watch) return ask(instance, params)
    await watch(instance, { ...params, refreshSeconds: options.refresh })
  })
}

function price({ print, amounts }: Instance, swap: PriceParams) {
  return print(
    (client, calling) => client.getPrice(swap, calling),
    async (answer, display) => renderPrice(answer, swap, await amounts.format(swap.chainId), display),
  )
}

function ask({ print, amounts, commandLine }: Instance, params: QuoteParams) {
  const { chainId, destinationChainId = chainId } = params
  return print(
    async (client, calling) => assertAsked(params, await client.getQuote(params, calling)),
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
