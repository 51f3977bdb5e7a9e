import { explain } from '../../../protocol/src/quotes/explain.js'
import type { DropReason } from '../../../protocol/src/quotes/offer.js'
import type { QuoteParameters } from '../../../protocol/src/quotes/quote-record.js'
import { isDecline, isRedirect, toRecordedResult } from '../../../protocol/src/solvers/solver-result.js'
import { type Finding, fail, pass, worseOf } from './report.js'
import type { TrialReply } from './trial.js'

/** What the answer to a request must be. Errors, time-outs and invalid replies always fail. */
export interface Expectation {
  /** Why an offer is not right, and what to do. */
  readonly offerIsOdd?: string
  /** Why a decline is not right, and what to do. */
  readonly declineIsOdd?: string
  /** What an answer is that is not right; `warn` when left out. */
  readonly objection?: 'fail'
}

/** An offer and a decline are both right. */
export const EITHER: Expectation = {}

const NONCE_SENT_BEFORE =
  'An earlier reply of this run had the same quote.nonce. Sign every quote with a new nonce, such as 8 random bytes.'

/** Judges one reply. */
export function judge(reply: TrialReply, expectation: Expectation): Finding {
  const { result, signature } = reply
  const { offerIsOdd, objection: status = 'warn' } = expectation
  const text = explainReply(reply)
  switch (result.kind) {
    case 'quoted':
      return offerIsOdd === undefined ? pass(text) : { status, text: `${text} ${offerIsOdd}` }
    case 'declined':
      if ('status' in result && isRedirect(result.status)) return fail(text, 'redirect')
      if ('status' in result && !isDecline(result.status)) return fail(text, 'error_status')
      return judgeDecline('code' in result ? result.code : `status ${result.status}`, expectation)
    case 'invalid': {
      // The contract itself is not asked, so that no error of its own is the reason.
      const found = fail(
        result.reason === 'nonce_used' ? NONCE_SENT_BEFORE : text,
        result.reason as DropReason,
      )
      if (signature === undefined) return found
      const { likelyMistake } = signature
      return { ...found, text: `${text}${likelyMistake ? ` ${likelyMistake}` : ''}`, signature }
    }
    case 'failed':
      return fail(text, result.reason)
    case 'late':
      return fail(text, 'late')
    case 'soft_deadline':
    case 'circuit_open':
    case 'cancelled':
      throw new Error('a request ended without a result')
  }
}

function judgeDecline(how: string, expectation: Expectation): Finding {
  const { declineIsOdd, objection = 'warn' } = expectation
  const text = `The solver declined with ${how}.`
  return declineIsOdd === undefined ? pass(text) : { status: objection, text: `${text} ${declineIsOdd}` }
}

/** Judges several replies: the worst finding, with all problems. */
export function judgeAll(replies: readonly TrialReply[], expectation: Expectation): Finding {
  const findings = replies.map((reply) => judge(reply, expectation))
  const worst = findings.reduce(worseOf)
  const problems = [...new Set(findings.flatMap((finding) => finding.problems ?? []))]
  return problems.length === 0 ? worst : { ...worst, problems }
}

/** The service's sentence about a reply, with what is known of a failure. */
export function explainReply({
  request,
  solver,
  result,
  tookMs,
}: Pick<TrialReply, 'request' | 'solver' | 'result' | 'tookMs'>): string {
  if (result.kind === 'quoted') {
    const { inputAmount, outputAmount } = result.offer.quote
    return `A valid offer: ${outputAmount} for ${inputAmount}.`
  }
  const parameters: QuoteParameters = { ...request, amount: request.amount.toString() }
  const recorded = toRecordedResult({ solver, result, tookMs })
  const { message } = result as { message?: string }
  const text = explain(recorded, { request: parameters })
  return message ? `${text} (${message})` : text
}
