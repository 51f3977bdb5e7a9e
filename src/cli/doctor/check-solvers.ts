import { randomUUID } from 'node:crypto'
import type { Config } from '../../config/config.js'
import { MAX_REPLY_KIB } from '../../domain/field-rules.js'
import { deadlines, NO_USER, type QuoteRequest } from '../../domain/quotes/quote.js'
import { NO_ENDPOINT, type Solver } from '../../domain/solvers/solver.js'
import type { HttpFailReason } from '../../domain/solvers/solver-result.js'
import { toChecksumAddress } from '../../signing/checksum.js'
import { createEndpointGuard } from '../../solvers/transport/endpoint-guard.js'
import { createSolverHttpClient, type HttpReply } from '../../solvers/transport/solver-http-client.js'
import { requestBody, type SolverRequest } from '../../solvers/transport/solver-transports.js'
import { formatDuration } from '../printable.js'
import { type CheckResult, collectResults } from './check-result.js'

type Answer = HttpReply & { readonly tookMs: number }

const TIMEOUT_MS = 5000
const FIRST_SERVER_ERROR = 500

/** Remedies for a solver that cannot be reached. */
const REMEDIES: Readonly<Record<HttpFailReason, string>> = {
  endpoint_rejected:
    "Its https URL must resolve to public addresses only (check this machine's DNS), or be in SOLVER_ENDPOINT_ALLOWLIST.",
  name_not_resolved:
    "Its host name does not resolve: check this machine's DNS, then inform the solver's operator.",
  connection_refused: "Nothing listens there. Inform the solver's operator.",
  unreachable:
    "It cannot be reached: check this machine's firewall and proxy, then inform the solver's operator.",
  tls_failed: "Its certificate or its TLS is invalid. Inform the solver's operator.",
  not_http: "The server there does not speak HTTP. Inform the solver's operator.",
  reply_too_long: `Its reply is longer than ${MAX_REPLY_KIB} KiB. Inform the solver's operator.`,
  connection_lost: "It closes connections before its reply is complete. Inform the solver's operator.",
}

/**
 * Sends each registered solver of the supported chains a request for a quote that is not used. Only the service can ask those
 * without an endpoint.
 */
export async function checkSolvers(
  solvers: readonly Solver[],
  config: Config,
): Promise<readonly CheckResult[]> {
  const guard = createEndpointGuard({
    production: config.production,
    allowlist: config.solverEndpointAllowlist,
  })
  const client = createSolverHttpClient(guard, config.maxConnectionsPerSolver)
  const ask = async (solver: Solver): Promise<Answer | undefined> => {
    if (solver.endpointUrl === NO_ENDPOINT) return undefined
    const start = performance.now()
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const reply = await client.requestQuote(solver, solverRequestFor(solver, config), signal)
    return { ...reply, tookMs: performance.now() - start }
  }
  try {
    const checked = config.chains.map(async ({ chainId }) => {
      const ofChain = solvers.filter((solver) => solver.chainId === chainId)
      return checkEndpoints(chainId, ofChain, await Promise.all(ofChain.map(ask)), config.quoteTimeoutMs)
    })
    return (await Promise.all(checked)).flat()
  } finally {
    await client.close()
  }
}

/**
 * A solver that fails is a warning. A chain on which every solver fails is a failure, because it has no quotes.
 * @param answers undefined for a solver without an endpoint
 */
function checkEndpoints(
  chainId: number,
  solvers: readonly Solver[],
  answers: readonly (Answer | undefined)[],
  quoteTimeoutMs: number,
): readonly CheckResult[] {
  const checkResults = collectResults(`solvers of chain ${chainId}`)
  if (solvers.length === 0) checkResults.ok('', 'no solver is registered yet')
  let working = 0
  solvers.forEach(({ address, name, endpointUrl, session }, index) => {
    const answer = answers[index]
    const check = `${name} (${toChecksumAddress(address)})`
    if (answer === undefined) {
      working++
      checkResults.ok(check, `has no endpoint and is ${session ? '' : 'not '}connected: not checked`)
      return
    }
    const { text, remedy } = describeAnswer(answer, quoteTimeoutMs)
    if (remedy === undefined) {
      working++
      checkResults.ok(check, text)
    } else checkResults.warn(check, `${endpointUrl} ${text}`, remedy)
  })
  if (solvers.length > 0 && working === 0)
    checkResults.fail(
      '',
      'every solver fails, so there are no quotes',
      'See the result of each solver above.',
    )
  return checkResults.list
}

function describeAnswer(answer: Answer, quoteTimeoutMs: number): { text: string; remedy?: string } {
  const took = formatDuration(answer.tookMs)
  switch (answer.kind) {
    case 'cancelled':
      return {
        text: `does not answer within ${took}`,
        remedy: "Quotes do not wait for it. Inform the solver's operator.",
      }
    case 'failed':
      return { text: `cannot be called: ${answer.message}`, remedy: REMEDIES[answer.reason] }
    case 'invalid':
      return { text: 'answers without JSON', remedy: "Inform the solver's operator." }
    case 'declined':
      if (answer.status >= FIRST_SERVER_ERROR)
        return {
          text: `answers with status ${answer.status}`,
          remedy: "The solver has an internal error. Inform the solver's operator.",
        }
  }
  if (answer.tookMs > quoteTimeoutMs) {
    const remedy =
      "Quotes do not wait that long for it. Inform the solver's operator, or raise QUOTE_TIMEOUT_MS."
    return { text: `answers in ${took}, which is longer than QUOTE_TIMEOUT_MS`, remedy }
  }
  return { text: `answers in ${took}${answer.kind === 'declined' ? `, with status ${answer.status}` : ''}` }
}

function solverRequestFor({ chainId, address }: Solver, config: Config): SolverRequest {
  const windows = {
    depositWindowSeconds: config.defaultDepositWindowSeconds,
    fillWindowSeconds: config.defaultFillWindowSeconds,
  }
  const request: QuoteRequest = {
    kind: 'INDICATIVE',
    chainId,
    inputToken: NO_USER,
    outputToken: `0x${'00'.repeat(18)}beef`,
    orderType: 'EXACT_INPUT',
    amount: 1n,
    user: NO_USER,
    destinationChainId: chainId,
    depositMode: 'CONTRACT',
    ...deadlines(Date.now(), windows),
  }
  return {
    request,
    body: Buffer.from(requestBody(request)),
    quoteIds: new Map([[address, randomUUID()]]),
    deadline: Date.now() + TIMEOUT_MS,
  }
}
