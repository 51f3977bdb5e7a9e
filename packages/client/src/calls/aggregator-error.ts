import type { FieldViolation, NoQuoteReasons, Reason } from '../../../protocol/src/errors.js'
import type { UnknownText } from './message-types.js'

/**
 * Why a call failed: a reason of the service, or one of the client. CONNECTION_FAILED: no whole answer came. TIMED_OUT: none
 * within `timeoutMs`. CANCELLED: by the caller's signal. ANSWER_INVALID: the base URL does not lead to an aggregator that
 * this client understands.
 */
export type ClientReason = Reason | (typeof OWN)[number]
/** The client's own reasons, which no instance gives. */
const OWN = ['CONNECTION_FAILED', 'TIMED_OUT', 'CANCELLED', 'ANSWER_INVALID'] as const

/** As the instance wrote them: compare them with numbers before you count on them. */
export type NoQuoteCounts = Readonly<Partial<Record<keyof NoQuoteReasons, unknown>>>

interface AggregatorErrorOptions {
  readonly violations?: readonly FieldViolation[]
  readonly reasons?: NoQuoteCounts | undefined
  readonly quoteId?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly httpStatus?: number | undefined
  readonly cause?: unknown
}

/** What logs and pages take of the sentence of an instance, and of each of its words on a field. */
const MAX_MESSAGE_CHARACTERS = 1_000
/** More than the fields of any call. */
const MAX_VIOLATIONS = 50

/** The error of every method of the client. Its message is a sentence for a person. */
export class AggregatorError extends Error {
  override readonly name = 'AggregatorError'
  /** A newer instance may send a reason that this version of the client does not know: its `httpStatus` says more. */
  readonly reason: ClientReason | UnknownText
  /** Every bad field of the call. */
  readonly violations: readonly FieldViolation[]
  /** Names the record of the quote that failed, when solvers were asked. */
  readonly quoteId: string | undefined
  /** Of NO_QUOTES, how many solvers there were for each reason; undefined when the instance does not say. */
  readonly reasons: NoQuoteCounts | undefined
  /** How long to wait before the next attempt, when the instance or a gateway in front of it says so. */
  readonly retryAfterSeconds: number | undefined
  /** Status of the answer; undefined when the error is not an answer. */
  readonly httpStatus: number | undefined

  constructor(
    reason: ClientReason | UnknownText,
    message: string,
    { cause, ...facts }: AggregatorErrorOptions = {},
  ) {
    super(cut(message), { cause })
    this.reason = reason
    this.violations = []
    Object.assign(this, facts)
  }
}

/** An answer that this client does not understand. `toAggregatorError` adds the URL. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer'
}

/** An answer that is not a success. */
export interface FailedAnswer {
  /** Base URL of the instance. */
  readonly url: string
  readonly status: number
  readonly retryAfter: string | null
  /** The body's JSON; undefined when it has none. */
  readonly body: unknown
}

/** A failed answer with the reason that the instance gave, or else with one of the client. */
export function fromAnswer({ url, status, retryAfter, body }: FailedAnswer): AggregatorError {
  const facts = { httpStatus: status, retryAfterSeconds: readRetryAfter(retryAfter) }
  const error = fromBody(body, facts)
  if (error !== undefined) return error
  // Other instances of the protocol answer without a code.
  const { error: words } = asObject(body)
  const what = `HTTP status ${status}${typeof words === 'string' ? `, "${cut(words)}"` : ''}`
  // A gateway answers so: it limits requests, or reaches no instance.
  if (mayPass(status))
    return new AggregatorError('CONNECTION_FAILED', `${url} cannot be reached: ${what}.`, facts)
  return notAnAggregator(url, what, facts)
}

/** The error with which an instance has ended a stream. @param body as of a failed answer */
export function fromStream(url: string, body: unknown): AggregatorError {
  return fromBody(body, {}) ?? notAnAggregator(url, 'a stream that ends with an unknown error', {})
}

/** @returns undefined when the body has not the shape of the service's errors */
function fromBody(body: unknown, facts: AggregatorErrorOptions): AggregatorError | undefined {
  const { error, code, details, quoteId, reasons } = asObject(body)
  // A newer instance may have further codes. Gateways have others, such as numbers.
  const isOfService =
    typeof error === 'string' &&
    typeof code === 'string' &&
    /^[A-Z][A-Z0-9_]{0,63}$/.test(code) &&
    !(OWN as readonly string[]).includes(code)
  if (!isOfService) return undefined
  const violations = readViolations(details)
  return new AggregatorError(code, withViolations(cut(error), violations), {
    ...facts,
    violations,
    quoteId: typeof quoteId === 'string' ? quoteId : undefined,
    reasons: (reasons && asObject(reasons)) as NoQuoteCounts | undefined,
  })
}

function asObject(body: unknown): Readonly<Record<string, unknown>> {
  return Object(body)
}

/** Whether a later request may get another status. */
export function mayPass(status: number | undefined): boolean {
  return status !== undefined && (status === 429 || status >= 500)
}

/** Turns what a request throws into an AggregatorError. `fetch` and bodies throw when there is no whole answer. */
export function toAggregatorError(url: string, thrown: unknown): AggregatorError {
  if (thrown instanceof AggregatorError) return thrown
  if (thrown instanceof UnreadableAnswer) return notAnAggregator(url, thrown.message, { cause: thrown })
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  const code = codeOf(thrown)
  const message = `No whole answer came from ${url}: ${said}${code === undefined ? '' : ` (${code})`}.`
  return new AggregatorError('CONNECTION_FAILED', message, { cause: thrown })
}

function notAnAggregator(url: string, what: string, options: AggregatorErrorOptions): AggregatorError {
  const message = `${url} does not answer as an aggregator that this client understands: ${what}.`
  return new AggregatorError('ANSWER_INVALID', message, options)
}

/** The error for arguments of a call, naming every bad field. */
export function invalidCall(violations: readonly FieldViolation[], cause?: unknown): AggregatorError {
  const message = `The call is not valid: ${describe(violations)}.`
  return new AggregatorError('INVALID_ARGUMENT', message, { violations, cause })
}

/** The code of the system's error, such as ECONNREFUSED, that Node keeps in a cause, or the words of the cause. */
function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { code, cause } = thrown as { code?: unknown; cause?: unknown }
  if (typeof code === 'string') return code
  return codeOf(cause) ?? (cause instanceof Error ? cause.message : undefined)
}

/** The service names the bad fields in its sentence, and mostly not what they must be. */
function withViolations(sentence: string, violations: readonly FieldViolation[]): string {
  return violations.every(({ message }) => sentence.includes(message))
    ? sentence
    : `${sentence.replace(/\.?$/, ':')} ${describe(violations)}.`
}

function describe(violations: readonly FieldViolation[]): string {
  return violations.map(({ field, message }) => `${field} ${message}`).join('; ')
}

function readViolations(details: unknown): FieldViolation[] {
  if (!Array.isArray(details)) return []
  return details.slice(0, MAX_VIOLATIONS).flatMap((detail) => {
    const { field, message } = detail ?? {}
    const isText = typeof field === 'string' && typeof message === 'string'
    return isText ? [{ field: cut(field), message: cut(message) }] : []
  })
}

/** The text of an instance as a terminal or a page may show it: short, and without characters that control them. */
function cut(text: string): string {
  return text.slice(0, MAX_MESSAGE_CHARACTERS).replace(/\p{C}/gu, '?')
}

/** Reads `Retry-After`: seconds, as aggregators write it, or a date, as some gateways do. */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const seconds = /^[A-Z][a-z]+, /.test(text) ? (Date.parse(text) - Date.now()) / 1000 : Number.NaN
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds))
}
