import { randomUUID } from 'node:crypto'
import { explainReply } from '../../../packages/cli/src/certify/judge.js'
import { formatDuration } from '../../../packages/cli/src/output/printable.js'
import { NO_USER, type QuoteRequest } from '../../../packages/protocol/src/quotes/quote.js'
import { deadlines } from '../../../packages/protocol/src/signing/quote-request.js'
import { toChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import { NO_ENDPOINT, type Solver } from '../../../packages/protocol/src/solvers/solver.js'
import { isDecline } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Config } from '../../config/config.js'
import { createEndpointGuard } from '../../solvers/transport/endpoint-guard.js'
import { createSolverHttpClient, type SolverHttpClient } from '../../solvers/transport/solver-http-client.js'
import { sendTrialRequest } from '../../solvers/transport/trial-request.js'
import { type CheckResult, createReport } from './check-result.js'

const REMEDY =
  "Inform the solver's operator. If the cause is on this side, correct DNS, firewall, proxy or SOLVER_ENDPOINT_ALLOWLIST."

/**
 * Sends each registered solver of the supported chains a request for a quote that is not used. Only the service can ask
 * those without an endpoint. A solver that fails is a warning. A chain on which every solver fails is a failure, because it
 * has no quotes.
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
      for (const { solver, isRight, text } of found)
        if (solver.chainId === chainId)
          judge(`${solver.name} (${toChecksumAddress(solver.address)})`, isRight, text, REMEDY)
      if (list.length === 0) ok('', 'no solver is registered yet')
      else if (list.every(({ status }) => status !== 'ok'))
        fail('', 'every solver fails, so there are no quotes', 'See the result of each solver above.')
      return list
    })
  } finally {
    await client.close()
  }
}

/** Says what one request has shown of a solver. */
async function ask(solver: Solver, config: Config, client: SolverHttpClient) {
  const { address, chainId, endpointUrl, session } = solver
  if (endpointUrl === NO_ENDPOINT) {
    return {
      solver,
      isRight: true,
      text: `has no endpoint and is ${session ? '' : 'not '}connected: not checked`,
    }
  }
  const { quoteTimeoutMs } = config
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
  const sent = { request, id: randomUUID(), deadline: Date.now() + quoteTimeoutMs }
  const start = performance.now()
  const answer = await sendTrialRequest(sent, AbortSignal.timeout(quoteTimeoutMs), (...call) =>
    client.requestQuote(solver, ...call),
  )
  const tookMs = Math.round(performance.now() - start)
  const status = answer.kind === 'declined' && 'status' in answer ? answer.status : undefined
  if (answer.kind === 'replied' || (status !== undefined && isDecline(status))) {
    const text = `answers in ${formatDuration(tookMs)}${status ? `, with status ${status}` : ''}`
    return { solver, isRight: true, text }
  }
  const text = explainReply({ request, solver: address, result: answer, tookMs })
  return { solver, isRight: false, text: `${endpointUrl}: ${text}` }
}
