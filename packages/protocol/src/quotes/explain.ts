import { MAX_REPLY_KIB } from '../field-rules.js'
import type { QuoteTypedData } from '../settlement/settlement.js'
import type { RecordedResult } from '../solvers/solver-result.js'
import { type DeclineCode, type FailReason, isDecline, isRedirect } from '../solvers/solver-result.js'
import type { DropReason } from './offer.js'
import type { QuoteParameters } from './quote-record.js'

/** The facts that an explanation compares an offer with. */
interface Competition {
  readonly request: QuoteParameters
  /** The best offer's amount; undefined when the reader may not see it yet. */
  readonly bestAmount?: string | undefined
  /** The typed data that solvers sign; undefined until the chain has been read. */
  readonly typedData?: QuoteTypedData | undefined
}

/** Explains the result of a solver in a way that its developer can act on. */
export function explain(answer: RecordedResult, record: Competition): string {
  switch (answer.outcome) {
    case 'quoted':
      return explainRank(answer, record)
    case 'declined':
      return answer.declineCode === undefined
        ? explainRefusal(answer.httpStatus ?? 0)
        : DECLINES[answer.declineCode]
    case 'invalid':
      return explainDrop(answer, record)
    case 'failed':
      return FAILURES[answer.reason as FailReason]
    case 'late':
      return `No reply came within ${answer.durationMs} ms. Answer sooner, or decline: over HTTP with status 422 or 503.`
    case 'soft_deadline':
      return `The round ended ${answer.durationMs} ms after this request, as others had made offers. This does not count against the solver. Answer sooner.`
    case 'cancelled':
      if (answer.reason === 'replica_unreachable')
        return "The replica that holds the solver's session did not answer the one that was asked, or no longer has the session. This does not count against the solver."
      return 'The quote ended before the reply came: the caller went away or set a shorter deadline, or the request waited for a free connection or for earlier requests on the session. This does not count against the solver.'
    case 'circuit_open':
      return 'The circuit breaker of the solver was open after it cost callers time: it was asked, but the quote did not wait for it. Its next answer closes the breaker.'
  }
}

/** The facts for the explanation of a registration's check. */
interface CheckContext {
  readonly request: QuoteParameters
  readonly typedData: QuoteTypedData | undefined
  /** Whether the tokens of the swap do not exist, because no request has been quoted yet. */
  readonly isMadeUp: boolean
  /** Whether the reader may see why an endpoint could not be reached. */
  readonly showsNetworkErrors: boolean
}

/** Explains the result of the request that checks a registered endpoint, with the same sentences. */
export function explainCheck(
  answer: RecordedResult,
  { request, typedData, isMadeUp, showsNetworkErrors }: CheckContext,
): string {
  if (answer.outcome === 'quoted') return 'A valid reply: its form is right, and the solver has signed it.'
  if (answer.outcome === 'failed' && !showsNetworkErrors) return UNREACHED
  const explanation = explain(answer, { request, typedData })
  const { outcome, httpStatus = 0 } = answer
  const isRight = outcome === 'declined' && isDecline(httpStatus) && !isRedirect(httpStatus)
  return isRight && isMadeUp ? `${explanation} ${MADE_UP}` : explanation
}

const UNREACHED =
  'No valid HTTP answer came from the endpoint. Check that it can be reached from the internet, and that its certificate is valid and of its host name.'
const MADE_UP =
  'No pair has been quoted on this chain since the instance started, so the request was for tokens that do not exist: to decline is right. The signature is not checked yet: register again after the first quotes.'

function explainRank({ rank, ...answer }: RecordedResult, { request, bestAmount }: Competition): string {
  if (rank === 1) return 'The best offer: it is the one that the caller got first.'
  if (bestAmount === undefined) return 'A valid offer; the best amount is shown after the deposit deadline.'
  const [side, token, isBetter] =
    request.orderType === 'EXACT_INPUT'
      ? (['outputAmount', 'output', 'more'] as const)
      : (['inputAmount', 'input', 'less'] as const)
  const difference = BigInt(bestAmount) - BigInt(answer[side] ?? 0)
  if (difference === 0n) return 'As good as the best offer, which came first.'
  const amount = difference < 0n ? -difference : difference
  return `A valid offer; the best one was ${amount} of the ${token} token's smallest unit ${isBetter}.`
}

function explainRefusal(status: number): string {
  if (isRedirect(status))
    return `The solver answered with status ${status}. Redirects are not followed: register the URL that answers itself.`
  const fault = isDecline(status) ? '' : ' It is an error of the solver: decline with status 422 or 503.'
  return `The solver answered with status ${status}; only 200 carries an offer.${fault}`
}

/** The explanation of each code with which a solver declines on its session. */
const DECLINES: Readonly<Record<DeclineCode, string>> = {
  UNSUPPORTED_PAIR: 'The solver declined: it does not trade this pair on these chains.',
  AMOUNT_TOO_SMALL: 'The solver declined: the amount is below the smallest that it trades.',
  AMOUNT_TOO_LARGE: 'The solver declined: the amount is above the largest that it trades.',
  INSUFFICIENT_LIQUIDITY:
    'The solver declined: its limits leave no room at the moment. It lacks the output token, or its open quotes put too much of its bond at stake.',
  PAUSED:
    'The solver declined: it quotes nothing at the moment. It has paused, its node is late, or it had too many requests at once: its own log says which.',
  BOND_CANNOT_COVER:
    'The solver declined: the contract would reserve more of its bond for this output than it has to spare. It counts smallest units of the output token, whatever these are worth.',
  OTHER: 'The solver declined without one of the known codes. A code of the list tells its developer more.',
}

/** @param answer its reason is an error of the contract when DROPS has no explanation of it */
function explainDrop(answer: RecordedResult, record: Competition): string {
  const explanationOf: ExplainDrop | undefined = DROPS[answer.reason as DropReason]
  if (explanationOf === undefined)
    return `The settlement contract refused the offer with the error ${answer.reason}: the service called deposit with it, as the user. The caller's input token can also cause the error. This does not count against the solver.`
  return `${explanationOf(record.request, answer)}${explainTypedData(answer, record)}`
}

const SIGNATURE = 'EIP-712 signature of the solver over the quote: 65 bytes, v 27 or 28, low s'

/** Describes the typed data to sign, for a signature of another signer or of other data. */
function explainTypedData({ reason }: RecordedResult, { typedData }: Competition): string {
  if (reason !== 'signature_mismatch' || typedData === undefined) return ''
  const members = DOMAIN_MEMBERS.flatMap((name) => {
    const value = typedData.domain[name]
    if (value === undefined) return []
    return `"${name}":${typeof value === 'string' ? JSON.stringify(value) : value}`
  })
  return ` The primary type is ${typedData.primaryType}. The domain is {${members.join()}}.`
}

const DOMAIN_MEMBERS = ['name', 'version', 'chainId', 'verifyingContract', 'salt'] as const

type ExplainDrop = (request: QuoteParameters, answer: RecordedResult) => string

/** The explanation of each reason to drop a reply: what the solver's developer must correct. */
const DROPS: Readonly<Record<DropReason, ExplainDrop>> = {
  malformed: () =>
    'The reply must be JSON: {"quote": {the eleven fields of the struct}, "signature": "0x…"}, addresses and signature in hex with 0x. It must not be compressed, such as with gzip.',
  solver_mismatch: (_request, { solver }) => `quote.solver must be the registered solver, ${solver}.`,
  user_mismatch: ({ user }) => `quote.user must be the userAddress of the request, ${user}.`,
  input_token_mismatch: ({ inputToken }) => `quote.inputToken must be the one of the request, ${inputToken}.`,
  output_token_mismatch: ({ outputToken }) =>
    `quote.outputToken must be the one of the request, ${outputToken}.`,
  order_type_mismatch: ({ orderType }) =>
    `quote.orderType must be ${orderType === 'EXACT_INPUT' ? 0 : 1}, the contract's number for ${orderType}.`,
  output_chain_mismatch: ({ destinationChainId }) =>
    `quote.outputChainId must be the destinationChainId of the request, ${destinationChainId}.`,
  deposit_deadline_mismatch: ({ depositDeadline, minDepositDeadline }) =>
    minDepositDeadline === undefined
      ? `quote.depositDeadline must be the one of the request, ${depositDeadline}.`
      : `quote.depositDeadline must be from ${minDepositDeadline} to ${depositDeadline}, and an earlier one than the last must leave 20 s at the answer.`,
  fill_deadline_mismatch: ({ depositDeadline, fillDeadline, minDepositDeadline }) =>
    minDepositDeadline === undefined
      ? `quote.fillDeadline must be the one of the request, ${fillDeadline}.`
      : `quote.fillDeadline must be ${fillDeadline - depositDeadline} s after quote.depositDeadline, as in the request.`,
  fixed_amount_mismatch: ({ orderType, amount }) =>
    `quote.${orderType === 'EXACT_INPUT' ? 'inputAmount' : 'outputAmount'} must be the amount of the request, "${amount}", a decimal string.`,
  amount_out_of_range: () =>
    'quote.inputAmount and quote.outputAmount must be decimal strings of 1 to 2^256-1.',
  nonce_out_of_range: () => 'quote.nonce must be a decimal string of 0 to 2^256-1.',
  signature_length: () => `The signature must have 65 bytes. It is the ${SIGNATURE}.`,
  signature_v: () => `The last byte of the signature, v, must be 27 or 28. It is the ${SIGNATURE}.`,
  signature_high_s: () =>
    `The signature's s must be in the lower half of the curve's order (EIP-2). It is the ${SIGNATURE}.`,
  signature_mismatch: (_request, { solver }) =>
    `The signature does not recover to ${solver}: check the key, the EIP-712 domain, the struct's name and fields, and that exactly the answered values were signed.`,
  bond_too_small: () =>
    "The contract refuses the order: the part of quote.outputAmount that BOND_RESERVATION_BPS() names, 500 is 5%, must not exceed the solver's free bond. That is the total less what is reserved and unstaking. Add bond, or offer less.",
  below_minimum_order: () =>
    'The contract refuses the order: quote.outputAmount must be at least MIN_ORDER(). Refuse requests for less.',
  nonce_used: () =>
    'The contract refuses the order: quote.nonce was cancelled, or an earlier order has used it. Sign every quote with a nonce that is not used. Your other offers are not affected.',
}

/** The explanation of each reason for which a request failed. */
const FAILURES: Readonly<Record<FailReason, string>> = {
  endpoint_rejected:
    'The endpoint must be an https URL whose host resolves to public IP addresses only; it was not called.',
  name_not_resolved: "The host name of the solver's endpoint does not resolve.",
  connection_refused: "Nothing listens at the solver's endpoint.",
  unreachable: "No connection to the solver's endpoint could be made in time.",
  tls_failed:
    "TLS with the solver's endpoint failed: check that its certificate is valid and of its host name.",
  not_http: 'The endpoint sent no valid HTTP/1.1 response.',
  reply_too_long: `The reply must be at most ${MAX_REPLY_KIB} KiB, its headers at most 16 KiB.`,
  connection_lost: 'The connection ended before the reply did.',
  session_ended:
    "The solver's session ended before its reply came. Connect again: later quotes are asked on the new session, and this one is not repeated.",
  session_congested:
    'The request was not sent, because too much data waited on the session. Read its messages without a pause, and compute replies in parallel.',
}
