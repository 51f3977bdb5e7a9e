import { randomUUID } from 'node:crypto'
import type { Config } from '../../config/config.js'
import { deadlines, NO_USER, type QuoteRequest } from '../../domain/quotes/quote.js'
import { NO_ENDPOINT, type Solver } from '../../domain/solvers/solver.js'
import { FAILURES } from '../../quoting/records/explain.js'
import { toChecksumAddress } from '../../signing/checksum.js'
import { createEndpointGuard } from '../../solvers/transport/endpoint-guard.js'
import { createSolverHttpClient, type SolverHttpClient } from '../../solvers/transport/solver-http-client.js'
import { requestBody, type SolverRequest } from '../../solvers/transport/solver-transports.js'
import { formatDuration } from '../printable.js'
import { type CheckResult, createReport } from './check-result.js'

const TIMEOUT_MS = 5000
const FIRST_SERVER_ERROR = 500
const INFORM = "Inform the solver's operator."

/** What the operator of the instance can do first. The service explains each reason to the solver's developer. */
const REMEDIES: Readonly<Partial<Record<string, string>>> = {
  endpoint_rejected:
    "Its https URL must resolve to public addresses only (check this machine's DNS), or be in SOLVER_ENDPOINT_ALLOWLIST.",
  name_not_resolved: `Check this machine's DNS. ${INFORM}`,
  unreachable: `Check this machine's firewall and proxy. ${INFORM}`,
}

/** What one request has shown of a solver. It works when there is no remedy. */
interface Found {
  readonly text: string
  readonly remedy?: string
}

/**
 * Sends each registered solver of the supported chains a request for a quote that is not used. Only the service can ask those
 * without an endpoint. A solver that fails is a warning. A chain on which every solver fails is a failure, because it has no quotes.
 */
export async function checkSolvers(
  solvers: readonly Solver[],
  config: Config,
): Promise<readonly CheckResult[]> {
  const { production, solverEndpointAllowlist: allowlist } = config
  const guard = createEndpointGuard({ production, allowlist })
  const client = createSolverHttpClient(guard, config.maxConnectionsPerSolver)
  try {
    const found = await Promise.all(solvers.map((solver) => ask(solver, config, client)))
    return config.chains.flatMap(({ chainId }) => {
      const { ok, fail, judge, list } = createReport(`solvers of chain ${chainId}`)
      solvers.forEach(({ address, name, endpointUrl, ...solver }, index) => {
        const { text, remedy } = found[index] as Found
        if (solver.chainId !== chainId) return
        const shown = remedy === undefined ? text : `${endpointUrl} ${text}`
        judge(`${name} (${toChecksumAddress(address)})`, remedy === undefined, shown, remedy ?? '')
      })
      if (list.length === 0) ok('', 'no solver is registered yet')
      else if (list.every(({ status }) => status !== 'ok'))
        fail('', 'every solver fails, so there are no quotes', 'See the result of each solver above.')
      return list
    })
  } finally {
    await client.close()
  }
}

async function ask(solver: Solver, config: Config, client: SolverHttpClient): Promise<Found> {
  if (solver.endpointUrl === NO_ENDPOINT)
    return { text: `has no endpoint and is ${solver.session ? '' : 'not '}connected: not checked` }
  const start = performance.now()
  const solverRequest = solverRequestFor(solver, config)
  const answer = await client.requestQuote(solver, solverRequest, AbortSignal.timeout(TIMEOUT_MS))
  const tookMs = performance.now() - start
  const took = formatDuration(tookMs)
  switch (answer.kind) {
    case 'cancelled':
      return { text: `does not answer within ${took}`, remedy: `Quotes do not wait for it. ${INFORM}` }
    case 'failed': {
      const remedy = REMEDIES[answer.reason] ?? `${FAILURES[answer.reason]} ${INFORM}`
      return { text: `cannot be called: ${answer.message}`, remedy }
    }
    case 'invalid':
      return { text: 'answers without JSON', remedy: INFORM }
    case 'declined':
      if (answer.status >= FIRST_SERVER_ERROR)
        return {
          text: `answers with status ${answer.status}`,
          remedy: `The solver has an internal error. ${INFORM}`,
        }
  }
  if (tookMs > config.quoteTimeoutMs)
    return {
      text: `answers in ${took}, which is longer than QUOTE_TIMEOUT_MS`,
      remedy: `Quotes do not wait that long for it. ${INFORM} Or raise QUOTE_TIMEOUT_MS.`,
    }
  return { text: `answers in ${took}${answer.kind === 'declined' ? `, with status ${answer.status}` : ''}` }
}

function solverRequestFor(
  { chainId, address }: Solver,
  { defaultDepositWindowSeconds: depositWindowSeconds, defaultFillWindowSeconds: fillWindowSeconds }: Config,
): SolverRequest {
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
    ...deadlines(Date.now(), { depositWindowSeconds, fillWindowSeconds }),
  }
  return {
    request,
    body: Buffer.from(requestBody(request)),
    quoteIds: new Map([[address, randomUUID()]]),
    deadline: Date.now() + TIMEOUT_MS,
  }
}
