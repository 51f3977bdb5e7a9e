import type { DropReason } from '../../../packages/protocol/src/quotes/offer.js'
import { BOND, solverAccounts } from '../chain/chain.js'
import { highSTwin } from './high-s-twin.js'
import type { Behaviour, SolverRequest, WireQuote, WireReply } from './solver.js'

const [, , strangerAccount] = solverAccounts
const ANOTHER_ADDRESS = '0x00000000000000000000000000000000000000aa'
/** Better than what other solvers of a test offer. */
export const TEMPTING = '999999999999'
/** The largest output whose 5%, rounded down, a bond covers. */
export const LARGEST_OUTPUT = BOND * 20n + 19n
const UINT256_OVERFLOW = (2n ** 256n).toString()

/** Replies with the best price and one change before the signature. */
export function signedOver(change: Partial<Record<keyof WireQuote, unknown>>): Behaviour {
  return async (ask, { quoteFor, sign }) => {
    const quote = { ...quoteFor(ask), outputAmount: TEMPTING }
    return sign({ ...quote, ...change } as WireQuote)
  }
}

/** Replies with the best price, properly signed, and one change after the signature. */
function tampered(change: (reply: WireReply) => unknown): Behaviour {
  return async (ask, { quoteFor, sign }) => {
    const reply = await sign({ ...quoteFor(ask), outputAmount: TEMPTING })
    return change(reply) as WireReply
  }
}

const withSignature = (change: (signature: string) => string) =>
  tampered((reply) => ({ ...reply, signature: change(reply.signature) }))
const withQuote = (change: Record<string, unknown>) =>
  tampered((reply) => ({ ...reply, quote: { ...reply.quote, ...change } }))

/** A fault for each reason to drop an offer that the contract would reject, but a used nonce. */
export const offerFaults: [string, DropReason, Behaviour][] = [
  ['another solver', 'solver_mismatch', signedOver({ solver: strangerAccount.address })],
  ['another user', 'user_mismatch', signedOver({ user: ANOTHER_ADDRESS })],
  ['another input token', 'input_token_mismatch', signedOver({ inputToken: ANOTHER_ADDRESS })],
  ['another output token', 'output_token_mismatch', signedOver({ outputToken: ANOTHER_ADDRESS })],
  ['the other order type', 'order_type_mismatch', signedOver({ orderType: 1 })],
  ['another output chain', 'output_chain_mismatch', signedOver({ outputChainId: 1 })],
  ['another deposit deadline', 'deposit_deadline_mismatch', signedOver({ depositDeadline: 4_000_000_000 })],
  ['another fill deadline', 'fill_deadline_mismatch', signedOver({ fillDeadline: 4_000_000_000 })],
  ['another fixed amount', 'fixed_amount_mismatch', signedOver({ inputAmount: '1' })],
  ['an output of zero', 'amount_out_of_range', signedOver({ outputAmount: '0' })],
  ['a nonce beyond uint256', 'nonce_out_of_range', withQuote({ nonce: UINT256_OVERFLOW })],
  ['a changed output', 'signature_mismatch', withQuote({ outputAmount: `${TEMPTING}0` })],
  ['a signature of 66 bytes', 'signature_length', withSignature((signature) => `${signature}00`)],
  ['v of 0 or 1', 'signature_v', withSignature((s) => `${s.slice(0, -2)}${s.endsWith('1b') ? '00' : '01'}`)],
  ['a high s', 'signature_high_s', withSignature((signature) => highSTwin(signature))],
  [
    'an output of which 5% exceeds the bond',
    'bond_too_small',
    signedOver({ outputAmount: `${LARGEST_OUTPUT + 1n}` }),
  ],
  ['an output below the minimum order', 'below_minimum_order', signedOver({ outputAmount: '19' })],
  ['a signature that is not hex', 'malformed', withSignature(() => 'signed')],
]

/** What an honest solver knows of a request before it signs (docs/decisions.md, D23). */
interface AskedTimes {
  readonly nowSeconds: number
  readonly isIndicative: boolean
}

type SafetyRule = (ask: SolverRequest, times: AskedTimes) => boolean

/** Whether a solver may sign, by the case of certify that fails without the rule. */
export const SAFETY_RULES = {
  'past-deadlines': ({ depositDeadline }, { nowSeconds }) => depositDeadline >= nowSeconds + 2,
  'far-deadlines': ({ fillDeadline }, { nowSeconds }) =>
    fillDeadline <= nowSeconds + 3_600 || fillDeadline >= 2 ** 32,
  'overflowing-deadlines': ({ fillDeadline }) => fillDeadline < 2 ** 32,
  'short-fill': ({ depositDeadline, fillDeadline }) => fillDeadline - depositDeadline >= 60,
  'indicative-user': ({ userAddress }, { isIndicative }) =>
    !isIndicative || userAddress === '0x000000000000000000000000000000000000dEaD',
} satisfies Record<string, SafetyRule>

/** A solver that keeps all rules of docs/decisions.md, D23, but one. */
export function withoutSafety(
  missing: keyof typeof SAFETY_RULES | undefined,
  output = '2500000000',
): Behaviour {
  return async (ask, { quoteFor, sign }, { request, response }) => {
    const isIndicative = request.headers['x-quote-kind'] === 'indicative'
    const times = { nowSeconds: Date.now() / 1000, isIndicative }
    const rules = Object.entries<SafetyRule>(SAFETY_RULES).filter(([name]) => name !== missing)
    if (!rules.every(([, allows]) => allows(ask, times))) return void response.writeHead(422).end()
    return sign({ ...quoteFor(ask), ...(ask.orderType === 'EXACT_INPUT' ? { outputAmount: output } : {}) })
  }
}
