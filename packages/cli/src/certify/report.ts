import type { DropReason } from '../../../protocol/src/quotes/offer.js'
import type { TypedDataDomain } from '../../../protocol/src/settlement/settlement.js'
import type { FailReason } from '../../../protocol/src/solvers/solver-result.js'
import type { Address, Hex } from '../../../protocol/src/values/hex.js'

/** The result of a case. A warning does not prevent work, but costs the solver something. */
type CaseStatus = 'pass' | 'warn' | 'fail'

/** Why the service would drop a reply or lose a request: its own reasons, and those of statuses and time-outs. */
type Problem = DropReason | FailReason | 'late' | 'error_status' | 'redirect'

/** What one case has found. */
export interface Finding {
  readonly status: CaseStatus
  /** What was found; for a warning or a failure, also what to do. One line. */
  readonly text: string
  /** Each once. */
  readonly problems?: readonly Problem[]
  /** For a wrong signature. */
  readonly signature?: SignatureDetails
  /** Of concurrent requests. */
  readonly latency?: Latency
}

/** One case of a report. */
export interface CaseResult extends Finding {
  /** Stays the same over versions. */
  readonly name: string
  readonly title: string
  readonly tookMs: number
}

/** What a solver should have signed, and who has signed what it sent. */
export interface SignatureDetails {
  readonly expectedSigner: Address
  /** Undefined when the signature belongs to no address. */
  readonly recoveredSigner: Address | undefined
  readonly digest: Hex
  readonly structHash: Hex
  readonly domain: TypedDataDomain
  readonly primaryType: string
  readonly types: readonly { readonly name: string; readonly type: string }[]
  /** The members of the struct with the values that were hashed; numbers are decimal strings. */
  readonly message: Readonly<Record<string, string>>
  /** The mistake with which the signature would be right, if it is one of the usual ones. */
  readonly likelyMistake: string | undefined
}

/** Response times in milliseconds. */
interface Latency {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** The result of a run. */
export interface CertifyReport {
  /** Whether all cases were run and none has failed. */
  readonly ok: boolean
  /** Undefined when no solver has connected. */
  readonly solver: Address | undefined
  readonly transport: 'endpoint' | 'session'
  readonly chainId: number
  readonly domain: TypedDataDomain
  readonly primaryType: string
  readonly passed: number
  readonly warned: number
  readonly failed: number
  /** How long the concurrent requests took; undefined when that case was not run. */
  readonly latency: Latency | undefined
  readonly cases: readonly CaseResult[]
  /** Names of the cases that were not run, because of an interruption or an earlier failure. */
  readonly notRun: readonly string[]
}

const SEVERITY: Readonly<Record<CaseStatus, number>> = { pass: 0, warn: 1, fail: 2 }

/** The worse of two findings; the first of equal ones. */
export function worseOf(one: Finding, other: Finding): Finding {
  return SEVERITY[other.status] > SEVERITY[one.status] ? other : one
}

export const pass = (text: string): Finding => ({ status: 'pass', text })
export const warn = (text: string): Finding => ({ status: 'warn', text })
export const fail = (text: string, ...problems: Problem[]): Finding => ({ status: 'fail', text, problems })

/** The percentiles of response times, by the nearest rank; in milliseconds with one decimal. */
export function latencyOf(replies: readonly { readonly tookMs: number }[]): Latency {
  const sorted = replies.map(({ tookMs }) => tookMs).sort((one, other) => one - other)
  const percentile = (share: number) => {
    const rank = Math.max(1, Math.ceil(share * sorted.length))
    return Math.round((sorted[rank - 1] ?? 0) * 10) / 10
  }
  return { count: sorted.length, p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) }
}
