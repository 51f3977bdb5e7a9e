import type { CertifiedEndpoint, EndpointOptions } from '../../../packages/cli/src/certify/certify-host.js'
import { createEndpointGuard } from '../../solvers/transport/endpoint-guard.js'
import { createSolverHttpClient } from '../../solvers/transport/solver-http-client.js'
import { sendTrialRequest } from '../../solvers/transport/trial-request.js'

/** Connections of a service to one solver, as MAX_CONNECTIONS_PER_SOLVER has them by default. */
const MAX_CONNECTIONS = 1024

/** A solver's endpoint, asked by the service's HTTP client behind its guard. */
export function openEndpoint(options: EndpointOptions): CertifiedEndpoint {
  const { url, solver } = options
  const guard = createEndpointGuard({ production: false, allowlist: [] })
  const client = createSolverHttpClient(guard, MAX_CONNECTIONS)
  const called = { address: solver, endpointUrl: url }
  return {
    ...options,
    requestQuote: (request, timeoutMs, signal) =>
      sendTrialRequest(request, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]), (...call) =>
        client.requestQuote(called, ...call),
      ),
    reportResult() {},
    assertAllowedInProduction: () =>
      createEndpointGuard({ production: true, allowlist: [] }).assertAllowed(url),
    close: client.close,
  }
}
