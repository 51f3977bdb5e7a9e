import type { Address } from '../domain/values/hex.js'
import { toChecksumAddress } from '../signing/checksum.js'
import { ENDPOINT_CASES, SESSION_CASES } from './cases/all-cases.js'
import { createEndpoint } from './endpoint.js'
import { type CaseResult, type CertifyReport, type Finding, fail, pass } from './report.js'
import type { SessionHost } from './session-host.js'
import type { SigningTerms } from './signing-terms.js'
import { type CertifyCase, Trial, type TrialSwap } from './trial.js'

interface CertifyOptions {
  readonly signing: SigningTerms
  /** Reads the free bond of the solver that is checked; undefined for one that has none yet. */
  readonly readFreeBond: (solver: Address) => Promise<bigint | undefined>
  readonly swap: TrialSwap
  /** Time for each reply, in milliseconds. */
  readonly timeoutMs: number
  /** Ends the run with a partial report. */
  readonly signal: AbortSignal
}

interface CertifyEndpointOptions extends CertifyOptions {
  readonly endpointUrl: string
  readonly solver: Address
  readonly production: boolean
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

const SESSION_OPEN = { name: 'session-open', title: 'a session opens: challenge, hello, ready' }

/** Certifies a solver at its endpoint. It throws nothing that the solver could cause, and the errors of `readFreeBond`. */
export async function certifyEndpoint(options: CertifyEndpointOptions): Promise<CertifyReport> {
  const { solver } = options
  const endpoint = createEndpoint(options)
  try {
    const trial = new Trial({ ...options, signing: await withFreeBond(options, solver), transport: endpoint })
    return toReport(options, 'endpoint', solver, await runAll(ENDPOINT_CASES, trial, endpoint))
  } finally {
    await endpoint.close()
  }
}

/** Certifies a solver on sessions that it opens at the host. It throws nothing that the solver could cause, and the errors of `readFreeBond`. */
export async function certifySession(options: CertifySessionOptions): Promise<CertifyReport> {
  const { host, signal } = options
  const start = performance.now()
  const opened = await waitForSession(options)
  const solver = host.solver()
  const names = SESSION_CASES.map(({ name }) => name)
  if (signal.aborted)
    return toReport(options, 'session', solver, { results: [], notRun: [SESSION_OPEN.name, ...names] })
  const first = { ...SESSION_OPEN, tookMs: Math.round(performance.now() - start), ...opened }
  if (solver === undefined || opened.status === 'fail')
    return toReport(options, 'session', solver, { results: [first], notRun: names })
  const trial = new Trial({
    ...options,
    signing: await withFreeBond(options, solver),
    solver,
    transport: host,
  })
  const isOpen = () => host.current() !== undefined
  const cases = SESSION_CASES.map(withReasonOfEnd)
  async function findGone(): Promise<Finding | undefined> {
    if ((await host.until(isOpen, RECONNECT_MS, signal)) || signal.aborted) return undefined
    return fail(
      `The solver has no session, and opened none within ${RECONNECT_MS / 1000} s.${reasonOfEnd(host)}`,
      'session_ended',
    )
  }
  const { results, notRun } = await runAll(cases, trial, host, findGone)
  return toReport(options, 'session', solver, { results: [first, ...results], notRun })
}

/** The bond counts in the checks of offers, at an endpoint and on a session. */
async function withFreeBond(options: CertifyOptions, solver: Address): Promise<SigningTerms> {
  return { ...options.signing, freeBond: await options.readFreeBond(solver) }
}

async function waitForSession({ host, waitMs, signal }: CertifySessionOptions): Promise<Finding> {
  const isOpen = () => host.current() !== undefined
  await host.until(() => isOpen() || host.ends.length > 0, waitMs, signal)
  if (await host.until(isOpen, host.ends.length > 0 ? SECOND_TRY_MS : 0, signal))
    return pass('The hello is right.')
  const last = host.ends.at(-1)
  if (last === undefined)
    return fail(
      `No solver connected within ${waitMs / 1000} s. Dial ${host.url} as you would dial an instance.`,
    )
  return fail(`The service refused the session with ${last.reason}: ${last.message}`)
}

/** Adds to a finding why the service has ended the session, if it has. */
function withReasonOfEnd(item: CertifyCase<SessionHost>): CertifyCase<SessionHost> {
  return {
    ...item,
    async run(trial, host) {
      const finding = await item.run(trial, host)
      if (!finding.problems?.includes('session_ended')) return finding
      return { ...finding, text: finding.text + reasonOfEnd(host) }
    },
  }
}

/** A sentence that says why the service has ended the last session; empty when it has not. */
function reasonOfEnd({ ends }: SessionHost): string {
  const last = ends.filter(({ wasOpen }) => wasOpen).at(-1)
  return last === undefined ? '' : ` The service ended it with ${last.reason}: ${last.message}`
}

/**
 * Runs cases one after the other, up to an interruption, an essential one that fails, or the end of the solver.
 * @param findGone says, before a case, why the solver cannot be asked any more
 */
async function runAll<Subject>(
  cases: readonly CertifyCase<Subject>[],
  trial: Trial,
  subject: Subject,
  findGone: () => Promise<Finding | undefined> = async () => undefined,
): Promise<Progress> {
  const results: CaseResult[] = []
  for (const item of cases) {
    const { name, title } = item
    const start = performance.now()
    const gone = await findGone()
    // The case that it did not survive has said so.
    if (gone !== undefined && results.at(-1)?.problems?.includes('session_ended')) break
    const finding = gone ?? (await runOne(item, trial, subject))
    if (finding === undefined) break
    results.push({ name, title, tookMs: Math.round(performance.now() - start), ...finding })
    const isGone = gone !== undefined || finding.problems?.includes('connection_refused')
    if ((item.isEssential && finding.status === 'fail') || isGone) break
  }
  return { results, notRun: cases.slice(results.length).map(({ name }) => name) }
}

/** @returns undefined after an interruption */
async function runOne<Subject>(
  item: CertifyCase<Subject>,
  trial: Trial,
  subject: Subject,
): Promise<Finding | undefined> {
  if (trial.signal.aborted) return undefined
  const finding = await item.run(trial, subject).catch((error) => {
    if (!trial.signal.aborted) throw error
  })
  return trial.signal.aborted ? undefined : (finding ?? undefined)
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
    domainSource: signing.source,
    passed: count('pass'),
    warned: count('warn'),
    failed,
    latency: results.find(({ latency }) => latency !== undefined)?.latency,
    cases: results,
    notRun,
  }
}
