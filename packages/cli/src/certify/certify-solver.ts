import { toChecksumAddress } from '../../../protocol/src/signing/typed-data.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import { ENDPOINT_CASES, SESSION_CASES } from './cases/all-cases.js'
import type { CertifiedEndpoint, SessionHost } from './certify-host.js'
import { readStanding, type StandingSource } from './read-standing.js'
import { type CaseResult, type CertifyReport, type Finding, fail, pass } from './report.js'
import type { SigningTerms } from './signing-terms.js'
import { type CertifyCase, createTrial, type Trial, type TrialSwap } from './trial.js'
import { waitUntil } from './wait-until.js'

interface CertifyOptions {
  readonly signing: SigningTerms
  readonly swap: TrialSwap
  /** Time for each reply, in milliseconds. */
  readonly timeoutMs: number
  /** Ends the run with a partial report. */
  readonly signal: AbortSignal
  /** An instance that knows the solver. Undefined when its standing is not read. */
  readonly standing?: StandingSource | undefined
}

interface CertifyEndpointOptions extends CertifyOptions {
  readonly endpoint: CertifiedEndpoint
}

interface CertifySessionOptions extends CertifyOptions {
  readonly host: SessionHost
  /** How long the solver may take to connect, in milliseconds. */
  readonly waitMs: number
}

/** What has been run so far. */
interface Progress {
  readonly results: CaseResult[]
  readonly notRun: readonly string[]
}

/** How long a refused solver may take to try again. */
const SECOND_TRY_MS = 5000
/** How long a solver whose session has ended may take to open another. */
const RECONNECT_MS = 10_000

/** The first case of a session, and the last ones of each run. */
export const OUTER = {
  open: { name: 'session-open', title: 'a session opens: challenge, hello, ready' },
  missCost: { name: 'miss-cost', title: 'what a miss of the output token costs' },
  standing: { name: 'standing', title: 'whether quotes of the instance wait for the solver' },
}

/** Certifies a solver at its endpoint. It throws nothing that the solver could cause, and the errors of `readFreeBond`. */
export async function certifyEndpoint(options: CertifyEndpointOptions): Promise<CertifyReport> {
  const { endpoint, signing } = options
  const { solver } = endpoint
  const freeBond = await signing.readFreeBond(solver)
  const trial = createTrial({ ...options, freeBond, solver, transport: endpoint })
  const cases = [...ENDPOINT_CASES, ...readsOf(options, freeBond)]
  return toReport(options, 'endpoint', solver, await runAll(cases, trial, endpoint))
}

/** Certifies a solver on sessions that it opens at the host. It throws nothing that the solver could cause, and the errors of `readFreeBond`. */
export async function certifySession(options: CertifySessionOptions): Promise<CertifyReport> {
  const { host, signal, signing } = options
  const start = performance.now()
  const opened = await waitForSession(options)
  const solver = host.solver()
  const first = { ...OUTER.open, tookMs: Math.round(performance.now() - start), ...opened }
  if (signal.aborted || solver === undefined || opened.status === 'fail') {
    const names = [OUTER.open, ...SESSION_CASES].map(({ name }) => name)
    const results = signal.aborted ? [] : [first]
    return toReport(options, 'session', solver, { results, notRun: names.slice(results.length) })
  }
  const freeBond = await signing.readFreeBond(solver)
  const trial = createTrial({ ...options, freeBond, solver, transport: host })
  const cases = [...SESSION_CASES, ...readsOf(options, freeBond)]
  const { results, notRun } = await runAll(cases, trial, host, host)
  return toReport(options, 'session', solver, { results: [first, ...results], notRun })
}

async function waitForSession({ host, waitMs, signal }: CertifySessionOptions): Promise<Finding> {
  const isOpen = () => host.current() !== undefined
  await waitUntil(() => isOpen() || host.ends.length > 0, waitMs, signal)
  if (await waitUntil(isOpen, host.ends.length > 0 ? SECOND_TRY_MS : 0, signal))
    return pass('The hello is right.')
  const last = host.ends.at(-1)
  if (last === undefined)
    return fail(
      `No solver connected within ${waitMs / 1000} s. Dial ${host.url} as you would dial an instance.`,
    )
  return fail(`The service refused the session with ${last.reason}: ${last.message}`)
}

/** A sentence that says why the service has ended the last session; empty when it has not. */
function reasonOfEnd({ ends }: SessionHost): string {
  const last = ends.findLast(({ wasOpen }) => wasOpen)
  return last === undefined ? '' : ` The service ended it with ${last.reason}: ${last.message}`
}

/** Runs cases one after the other, up to an interruption, an essential one that fails, or the end of the solver. */
async function runAll<Subject>(
  cases: readonly CertifyCase<Subject>[],
  trial: Trial,
  subject: Subject,
  host?: SessionHost,
): Promise<Progress> {
  const results: CaseResult[] = []
  for (const { name, title, isEssential, run } of cases) {
    const start = performance.now()
    const isOpen = () => host === undefined || host.current() !== undefined
    const isGone = !isOpen() && !(await waitUntil(isOpen, RECONNECT_MS, trial.signal))
    // The case that it did not survive has said so.
    if (trial.signal.aborted || (isGone && results.at(-1)?.problems?.includes('session_ended'))) break
    const finding = await run(trial, subject).catch((error) => {
      if (!trial.signal.aborted) throw error
    })
    if (finding === undefined || trial.signal.aborted) break
    const { problems = [] } = finding
    const text = finding.text + (host && problems.includes('session_ended') ? reasonOfEnd(host) : '')
    results.push({ name, title, tookMs: Math.round(performance.now() - start), ...finding, text })
    if ((isEssential && finding.status === 'fail') || problems.includes('connection_refused')) break
  }
  return { results, notRun: cases.slice(results.length).map(({ name }) => name) }
}

/** The last cases: what the chain and an instance say of the solver. */
function readsOf({ standing, signing, swap }: CertifyOptions, freeBond: bigint | undefined): CertifyCase[] {
  const missCost = { ...OUTER.missCost, run: () => signing.missOf(swap.outputToken, freeBond) }
  return standing ? [missCost, { ...OUTER.standing, run: () => readStanding(standing) }] : [missCost]
}

function toReport(
  { signing }: CertifyOptions,
  transport: CertifyReport['transport'],
  solver: Address | undefined,
  { results, notRun }: Progress,
): CertifyReport {
  const count = (status: Finding['status']) => results.filter((result) => result.status === status).length
  const failed = count('fail')
  return {
    ok: failed === 0 && notRun.length === 0,
    solver: solver && toChecksumAddress(solver),
    transport,
    chainId: signing.chainId,
    domain: signing.typedData.domain,
    primaryType: signing.typedData.primaryType,
    passed: count('pass'),
    warned: count('warn'),
    failed,
    latency: results.find(({ latency }) => latency !== undefined)?.latency,
    cases: results,
    notRun,
  }
}
