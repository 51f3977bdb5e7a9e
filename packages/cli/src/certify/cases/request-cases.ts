import { MAX_UINT256 } from '../../../../protocol/src/field-rules.js'
import { NO_USER, type QuoteRequest } from '../../../../protocol/src/quotes/quote.js'
import { type Address, lowerCase } from '../../../../protocol/src/values/hex.js'
import { EITHER, type Expectation, judge } from '../judge.js'
import { warn } from '../report.js'
import { type CertifyCase, type RequestChange, randomAddress, type Trial } from '../trial.js'

const MUST_OFFER: Expectation = {
  objection: 'fail',
  declineIsOdd:
    'Without an offer, certify cannot check your signature: name a pair and an amount that you quote, and look whether the path of the endpoint is right.',
}
const SHOULD_OFFER: Expectation = {
  declineIsOdd:
    'You have quoted this pair in another form: if this decline is not on purpose, you lose these orders.',
}
const OTHER_CHAIN: Expectation = {
  offerIsOdd:
    'It is for another destination chain. Contracts like the reference contract reject it: decline unless yours settles there.',
}
const NO_SUCH_TOKENS: Expectation = {
  offerIsOdd: 'It is for tokens that do not exist. Decline pairs that you do not trade.',
}
const LOWER_CASE: Expectation = {
  declineIsOdd:
    'The same request with addresses in EIP-55 form got another answer. Compare addresses without regard to letter case.',
}
const EXTRA_FIELDS: Expectation = {
  declineIsOdd: 'Ignore fields that you do not know: a later version of the service may send more.',
}
const LONG_LOCK: Expectation = {
  offerIsOdd:
    'It holds your price and your funds for a day, at no cost to the user. Decline locks that are longer than an hour, or make them cost more.',
}
/** Firm offers may have promised all that the solver has. */
const DECLINES_ALL =
  'Not checked: by now, the solver declines the usual request too. Ask for a smaller --amount, or give it more of the output token or bond.'
/** Beyond this, a double-precision number is not exact. */
const LAST_EXACT = 2n ** 53n
const MAX_WINDOW_SECONDS = 86_400
const CHAIN_WITHOUT_CONTRACT = 4_294_967_291
const ADDRESSES = /0x[0-9a-fA-F]{40}/g

/** A case of one request and what its answer must be. */
export function requestCase(
  name: string,
  title: string,
  change: RequestChange | ((trial: Trial) => RequestChange),
  expectation: Expectation,
): CertifyCase {
  return {
    name,
    title,
    async run(trial) {
      const changed = typeof change === 'function' ? change(trial) : change
      const reply = await trial.requestQuote(changed)
      const found = judge(reply, expectation)
      if (found.status !== 'warn' || reply.result.kind !== 'declined') return found
      // The difference of the request is to blame only if the solver still offers for the usual one.
      const usual = await trial.requestQuote()
      return usual.result.kind === 'quoted' ? found : warn(DECLINES_ALL)
    },
  }
}

const fields = (changed: Partial<QuoteRequest>): RequestChange => ({ fields: changed })

/** The cases of one or a few requests in a row, for endpoints and sessions. */
export const requestCases: readonly CertifyCase[] = [
  {
    ...requestCase('exact-input', 'EXACT_INPUT, deposit at the contract', {}, MUST_OFFER),
    isEssential: true,
  },
  requestCase(
    'exact-input-address',
    'EXACT_INPUT, deposit at an address',
    fields({ depositMode: 'ADDRESS' }),
    SHOULD_OFFER,
  ),
  requestCase(
    'exact-output',
    'EXACT_OUTPUT, deposit at the contract',
    ({ outputAmount, amount }) => fields({ orderType: 'EXACT_OUTPUT', amount: outputAmount() ?? amount }),
    SHOULD_OFFER,
  ),
  requestCase(
    'indicative',
    'an INDICATIVE request',
    fields({ kind: 'INDICATIVE', user: NO_USER }),
    SHOULD_OFFER,
  ),
  requestCase(
    'another-destination',
    'another destination chain',
    fields({ destinationChainId: CHAIN_WITHOUT_CONTRACT }),
    OTHER_CHAIN,
  ),
  requestCase(
    'unknown-pair',
    'tokens that do not exist',
    () => fields({ inputToken: randomAddress(), outputToken: randomAddress() }),
    NO_SUCH_TOKENS,
  ),
  requestCase('smallest-amount', 'an amount of 1', fields({ amount: 1n }), EITHER),
  requestCase('largest-amount', 'an amount of 2^256-1', fields({ amount: MAX_UINT256 }), EITHER),
  requestCase(
    'exact-digits',
    'an amount that needs all its digits',
    ({ amount }) => fields({ amount: (amount > LAST_EXACT ? amount : LAST_EXACT) | 1n }),
    EITHER,
  ),
  requestCase(
    'longest-window',
    'a deposit window of 86,400 s',
    { depositWindowSeconds: MAX_WINDOW_SECONDS },
    LONG_LOCK,
  ),
  requestCase(
    'shorter-binding',
    'a request whose offers may be earlier (`minDepositDeadline`)',
    { minDepositWindowSeconds: 60 },
    EXTRA_FIELDS,
  ),
  requestCase(
    'letter-case',
    'addresses in lower case',
    { write: (body) => body.replace(ADDRESSES, (address) => lowerCase(address as Address)) },
    LOWER_CASE,
  ),
]

/** Asks the usual request again at the end. */
export const stillAnswers: CertifyCase = requestCase('still-answers', 'an answer after all this', {}, EITHER)
