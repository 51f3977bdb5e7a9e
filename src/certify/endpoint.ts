import { endpointUrlProblem } from '../../packages/protocol/src/values/endpoint-url.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { createEndpointGuard } from '../solvers/transport/endpoint-guard.js'
import { createSolverHttpClient } from '../solvers/transport/solver-http-client.js'
import { type Finding, fail, pass, warn } from './report.js'
import type { TrialTransport } from './trial.js'

/** A solver's endpoint, asked by the service's HTTP client. */
export interface CertifiedEndpoint extends TrialTransport {
  /** Checks the URL as a registration would. */
  checkUrl(): Promise<Finding>
  /** Number of open connections. */
  countConnections(): number
  close(): Promise<void>
}

interface EndpointOptions {
  readonly endpointUrl: string
  readonly solver: Address
  /** Whether the rules of production apply: https and public addresses only. */
  readonly production: boolean
}

/** Connections of a service to one solver, as MAX_CONNECTIONS_PER_SOLVER has them by default. */
const MAX_CONNECTIONS = 1024

/** Opens nothing before the first request. */
export function createEndpoint({
  endpointUrl,
  solver: address,
  production,
}: EndpointOptions): CertifiedEndpoint {
  const client = createSolverHttpClient(createEndpointGuard({ production, allowlist: [] }), MAX_CONNECTIONS)
  const called = { address, endpointUrl }
  return {
    requestQuote: (_solver, solverRequest, signal, listener) =>
      client.requestQuote(called, solverRequest, signal, listener),
    reportResult() {},
    async checkUrl() {
      const problem = endpointUrlProblem(endpointUrl)
      if (problem !== undefined) return fail(`The endpoint ${problem}. No instance would register it.`)
      const strict = createEndpointGuard({ production: true, allowlist: [] })
      try {
        await strict.assertAllowed(endpointUrl)
      } catch (error) {
        const { message } = error as Error
        if (production) return fail(message, 'endpoint_rejected')
        return warn(`An instance in production would reject this endpoint. ${message}`)
      }
      return pass('Instances in production accept this URL.')
    },
    countConnections: () => client.countConnections()(called),
    close: client.close,
  }
}
