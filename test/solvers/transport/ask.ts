import { toRequestBody } from '../../../packages/protocol/src/signing/quote-request.js'
import type { SolverHttpClient } from '../../../src/solvers/transport/solver-http-client.js'
import type { SolverCall } from '../../../src/solvers/transport/solver-transports.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { signedBy } from '../../support/solvers/raw-solver.js'
import { exactInput, SOLVER } from '../../support/solvers/sample-quotes.js'

const REQUEST = {
  request: exactInput,
  body: Buffer.from(JSON.stringify(toRequestBody(exactInput))),
  deadline: 1_800_000_000_000,
}

/** Asks the solver at an endpoint. */
export function askAt(
  client: SolverHttpClient,
  endpointUrl: string,
  signal: AbortSignal = new AbortController().signal,
  call?: SolverCall,
) {
  return client.requestQuote({ address: SOLVER, endpointUrl }, REQUEST, signal, call)
}

const domain = { name: 'Settlement', version: '1', chainId: 1, verifyingContract: SOLVER }
/** A good reply but for its signature, which this layer does not read. */
export const replyTo = signedBy({ domain }, solverAccounts[0], SOLVER)
