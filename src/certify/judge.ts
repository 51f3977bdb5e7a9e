import type { DropReason } from '../domain/quotes/offer.js'
import type { QuoteParameters } from '../domain/quotes/quote-record.js'
import { isDecline, isRedirect } from '../domain/solvers/solver-result.js'
import { explain } from '../quoting/records/explain.js'
import { toRecordedResult } from '../quoting/records/quote-recorder.js'
import { type Finding, fail, pass, worseOf } from './report.js'
import type { TrialReply } from './trial.js'

/** What the answer to a request must be. Errors, time-outs and invalid replies always fail. */
export interface Expectation {
  /** Set when an offer is not right. */
  readonly offerIsOdd?: Objection
  /** Set when a decline is not right. */
  readonly declineIsOdd?: Objection
  /** What else to do about a failure. */
  readonly failureHint?: string
}

interface Objection {
  readonly status: 'warn' | 'fail'
  /** Why, and what to do. */
  readonly text: string
}

/** An offer and a decline are both right. */
export const EITHER: Expectation = {}

const NONCE_SENT_BEFORE =
  'An earlier reply of this run had the same quote.nonce. Sign every quote with a new nonce, such as 8 random bytes.'

/** Judges one reply. */
export function judge(reply: TrialReply, expectation: Expectation): Finding {
  const found = judgeResult(reply, expectation)
  const { failureHint } = expectation
  if (found.status !== 'fail' || failureHint === undefined || found.problems?.includes('nonce_used'))
    return found
  return { ...found, text: `${found.text} ${failureHint}` }
}

function judgeResult(reply: TrialReply, expectation: Expectation): Finding {
  const { result, signature } = reply
  const { offerIsOdd, declineIsOdd } = expectation
  const text = explainReply(reply)
  switch (result.kind) {
    case 'quoted':
      if (offerIsOdd === undefined) return pass(text)
      return { status: offerIsOdd.status, text: `${text} ${offerIsOdd.text}` }
    case 'declined':
      if ('status' in result && isRedirect(result.status)) return fail(text, 'redirect')
      if ('status' in result && !isDecline(result.status)) return fail(text, 'error_status')
      if (declineIsOdd === undefined) return pass(text)
      return { status: declineIsOdd.status, text: `${text} ${declineIsOdd.text}` }
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
    case 'cancelled':
      throw new Error('a request ended without a result')
  }
}

/** Judges several replies: the worst finding, with all problems. */
export function judgeAll(replies: readonly TrialReply[], expectation: Expectation): Finding {
  const findings = replies.map((reply) => judge(reply, expectation))
  const worst = findings.reduce(worseOf)
  const problems = [...new Set(findings.flatMap((finding) => finding.problems ?? []))]
  return problems.length === 0 ? worst : { ...worst, problems }
}

/** The service's sentence about a reply. */
function explainReply({ request, solver, result, tookMs }: TrialReply): string {
  if (result.kind === 'quoted') {
    const { inputAmount, outputAmount } = result.offer.quote
    return `A valid offer: ${outputAmount} for ${inputAmount}.`
  }
  if (result.kind === 'declined' && 'code' in result) return `The solver declined with ${result.code}.`
  if (
    result.kind === 'declined' &&
    'status' in result &&
    isDecline(result.status) &&
    !isRedirect(result.status)
  )
    return `The solver declined with status ${result.status}.`
  const parameters: QuoteParameters = { ...request, amount: request.amount.toString() }
  const recorded = toRecordedResult({ solver, result, tookMs })
  const { message } = result as { message?: string }
  const text = explain(recorded, { request: parameters })
  return message ? `${text} (${message})` : text
}
