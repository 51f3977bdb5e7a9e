import type { DescMethod } from '@bufbuild/protobuf'
import { REASONS, type Reason } from '../../packages/protocol/src/errors.js'
import { namesChain } from '../../src/rpc/method.js'
import { fullName } from './full-name.js'

/** An HTTP status, and the reasons that a response with it may have. */
export interface Failure {
  readonly status: number
  readonly reasons: readonly Reason[]
}

/** The errors of every method. */
const COMMON: readonly Reason[] = ['INVALID_ARGUMENT', 'API_KEY_INVALID', 'RATE_LIMITED', 'INTERNAL']

/** The error of every method whose requests name a chain. */
const OF_CHAIN: Reason = 'CHAIN_NOT_SUPPORTED'

/** No operator asks for a key here. */
const OF_SOLVERS = /Service\.(RegisterSolver|UnregisterSolver|ListOwnResults|OpenSession)$/

/** The errors of a signed message. */
const PROOF: readonly Reason[] = ['SIGNATURE_INVALID', 'TIMESTAMP_OUT_OF_RANGE', 'TIMESTAMP_REUSED']

/** The closed list of each method's other errors, by its full name. */
const OWN: Readonly<Record<string, readonly Reason[]>> = {
  'aggregator.v1.QuoteService.GetQuote': ['NO_QUOTES', 'SOLVERS_BUSY', 'CHAIN_UNAVAILABLE'],
  'aggregator.v1.QuoteService.GetPrice': ['NO_QUOTES', 'SOLVERS_BUSY', 'CHAIN_UNAVAILABLE'],
  'aggregator.v1.QuoteService.StreamQuotes': ['CHAIN_UNAVAILABLE', 'STREAM_LIMIT_REACHED'],
  'aggregator.v1.QuoteService.CheckOffer': ['CHAIN_UNAVAILABLE'],
  'aggregator.v1.QuoteService.GetQuoteRecord': ['QUOTE_NOT_FOUND', 'DATABASE_UNAVAILABLE'],
  'aggregator.v1.SolverService.RegisterSolver': [
    ...PROOF,
    'BOND_INSUFFICIENT',
    'ENDPOINT_REJECTED',
    'SOLVER_BLOCKED',
    'SOLVER_LIMIT_REACHED',
    'CHAIN_UNAVAILABLE',
    'DATABASE_UNAVAILABLE',
  ],
  'aggregator.v1.SolverService.UnregisterSolver': [...PROOF, 'SOLVER_NOT_FOUND', 'DATABASE_UNAVAILABLE'],
  'aggregator.v1.SolverService.ListSolvers': [],
  'aggregator.v1.SolverService.ListSolverStats': ['DATABASE_UNAVAILABLE'],
  'aggregator.v1.SolverService.GetSolverStats': ['SOLVER_NOT_FOUND', 'DATABASE_UNAVAILABLE'],
  'aggregator.v1.SolverService.ListOwnResults': [
    'SIGNATURE_INVALID',
    'TIMESTAMP_OUT_OF_RANGE',
    'AUDIENCE_REJECTED',
    'QUOTE_NOT_FOUND',
    'DATABASE_UNAVAILABLE',
  ],
  'aggregator.v1.SolverService.OpenSession': [
    OF_CHAIN,
    'SIGNATURE_INVALID',
    'SESSIONS_OFF',
    'CHALLENGE_EXPIRED',
    'AUDIENCE_REJECTED',
    'SESSION_LIMIT_REACHED',
    'SESSION_REPLACED',
    'SESSION_STALLED',
    'BOND_INSUFFICIENT',
    'SOLVER_BLOCKED',
    'SOLVER_LIMIT_REACHED',
    'SOLVER_NOT_FOUND',
    'CHAIN_UNAVAILABLE',
    'DATABASE_UNAVAILABLE',
    'CURSOR_UNKNOWN',
    'SUBSCRIBER_TOO_SLOW',
    'SHUTTING_DOWN',
  ],
  'aggregator.v1.OrderService.GetOrder': ['CHAIN_UNAVAILABLE'],
  'aggregator.v1.OrderService.ListOrders': ['DATABASE_UNAVAILABLE'],
  'aggregator.v1.ChainService.ListChains': [],
  'aggregator.v1.ChainService.ListTokens': ['DATABASE_UNAVAILABLE'],
  'aggregator.v1.ChainService.ListPairs': ['DATABASE_UNAVAILABLE'],
  'aggregator.v1.EventService.StreamEvents': [
    'CURSOR_UNKNOWN',
    'STREAM_LIMIT_REACHED',
    'DATABASE_UNAVAILABLE',
  ],
}

/** The meaning of each reason for a caller. */
export const EXPLANATIONS: Readonly<Record<Reason, string>> = {
  INVALID_ARGUMENT: 'The request is not valid; `details` names each bad field and what it must be.',
  CHAIN_NOT_SUPPORTED: 'The instance does not serve this chain, or the value is not a chain id.',
  SOLVER_NOT_FOUND: 'The solver is not registered on this chain.',
  QUOTE_NOT_FOUND:
    'This chain has no record of this quote, or no longer has one, or the instance keeps no records.',
  ROUTE_NOT_FOUND: 'There is nothing at this path.',
  METHOD_NOT_ALLOWED: 'The path accepts other verbs; the header `Allow` names them.',
  SIGNATURE_INVALID: 'The signature is not by this address over the expected message.',
  TIMESTAMP_OUT_OF_RANGE: "The timestamp is more than 5 minutes from the instance's clock.",
  TIMESTAMP_REUSED: 'The timestamp is not newer than the last accepted one of this solver on this chain.',
  API_KEY_INVALID: 'The API key is unknown, expired or revoked.',
  API_KEY_REQUIRED: 'The operator asks for an API key here.',
  BOND_INSUFFICIENT:
    'The bond on the settlement contract, less what is being unstaked, is below the minimum.',
  ENDPOINT_REJECTED:
    'The instance does not call this endpoint: in production it must be https, at public addresses, and at port 443 or at 1024 and above. Or the endpoint answers for another solver.',
  SOLVER_BLOCKED: 'The operator of the instance has blocked this address.',
  SOLVER_LIMIT_REACHED:
    'The chain has as many solvers as the instance accepts, and none can be replaced now.',
  RATE_LIMITED: 'Too many requests; `Retry-After` says when to try again.',
  NO_QUOTES: 'No solver gave a valid quote in time.',
  SOLVERS_BUSY:
    'All connections to solvers are in use, or more quotes wait than can be served in time; `Retry-After` says when to try again.',
  CHAIN_UNAVAILABLE: "The chain's RPC endpoints do not answer.",
  DATABASE_UNAVAILABLE: 'The database of the instance does not answer; try again in some seconds.',
  CURSOR_UNKNOWN: 'The cursor does not belong to the event log, or the events after it are no longer kept.',
  STREAM_LIMIT_REACHED:
    'The client, its network or the whole instance has reached its limit of open streams.',
  SESSIONS_OFF: 'The operator has turned off solver sessions, or has not set PUBLIC_URLS in production.',
  CHALLENGE_EXPIRED: 'The `hello` did not come in time after the `challenge`; connect again.',
  AUDIENCE_REJECTED: 'The audience that the solver has signed is not an origin of this instance.',
  SESSION_LIMIT_REACHED:
    'Too many connections of the client, its network or of all have not sent their `hello`.',
  SESSION_REPLACED: 'Another session of this solver has replaced this one; do not connect again.',
  SESSION_STALLED: 'The solver did not answer two pings, or did not read its messages for 10 seconds.',
  SUBSCRIBER_TOO_SLOW: 'The client read too slowly for too long.',
  SHUTTING_DOWN: 'The instance stops.',
  INTERNAL: 'The service failed; its log has the cause under the request id.',
}

/** The reasons of a method's errors. @throws when the closed list does not have the method */
export function reasonsOf(method: DescMethod): readonly Reason[] {
  const name = fullName(method)
  const own = OWN[name]
  if (own === undefined) throw new Error(`${name}: the list of errors does not have this method`)
  const ofKeys: readonly Reason[] = OF_SOLVERS.test(name) ? [] : ['API_KEY_REQUIRED']
  return [...COMMON, ...ofKeys, ...(namesChain(method) ? [OF_CHAIN] : []), ...own]
}

/**
 * The error responses of a method, by ascending status.
 * @param hasBody whether its request has a body, which may be too long
 * @throws when the closed list does not have the method
 */
export function failuresOf(method: DescMethod, hasBody: boolean): Failure[] {
  const byStatus = new Map<number, Reason[]>(hasBody ? [[413, ['INVALID_ARGUMENT']]] : [])
  for (const reason of reasonsOf(method)) {
    const { http } = REASONS[reason]
    byStatus.set(http, [...(byStatus.get(http) ?? []), reason])
  }
  return [...byStatus]
    .map(([status, reasons]) => ({ status, reasons }))
    .sort((one, other) => one.status - other.status)
}
