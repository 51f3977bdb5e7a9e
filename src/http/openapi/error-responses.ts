import { REASONS, type Reason } from '../../domain/errors.js'

/** An HTTP status, and the reasons that an answer with it may have. */
export interface Failure {
  readonly status: number
  readonly reasons: readonly Reason[]
}

/** What every method may answer. */
const COMMON: readonly Reason[] = ['INVALID_ARGUMENT', 'CHAIN_NOT_SUPPORTED', 'RATE_LIMITED', 'INTERNAL']

/** What proves a registration or its end, and may fail to. */
const PROOF: readonly Reason[] = ['SIGNATURE_INVALID', 'TIMESTAMP_OUT_OF_RANGE', 'TIMESTAMP_REUSED']

/** The closed list of what each method may answer besides, by its full name. */
const OWN: Readonly<Record<string, readonly Reason[]>> = {
  'aggregator.v1.QuoteService.GetQuote': ['NO_QUOTES', 'SOLVERS_BUSY', 'CHAIN_UNAVAILABLE'],
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
  'aggregator.v1.OrderService.GetOrder': ['CHAIN_UNAVAILABLE'],
  'aggregator.v1.EventService.StreamEvents': [
    'CURSOR_UNKNOWN',
    'STREAM_LIMIT_REACHED',
    'DATABASE_UNAVAILABLE',
  ],
}

/** What each reason says to a caller. */
export const EXPLANATIONS: Readonly<Record<Reason, string>> = {
  INVALID_ARGUMENT: 'The request is not valid; `details` names each bad field and what it must be.',
  CHAIN_NOT_SUPPORTED: 'The instance does not serve this chain, or it is no chain id.',
  SOLVER_NOT_FOUND: 'The solver is not registered on this chain.',
  QUOTE_NOT_FOUND: 'This chain has no record of this quote, or no longer, or the instance keeps none.',
  ROUTE_NOT_FOUND: 'There is nothing at this path.',
  METHOD_NOT_ALLOWED: 'The path takes other verbs; the header `Allow` names them.',
  SIGNATURE_INVALID: 'The signature is not by this address over the expected message.',
  TIMESTAMP_OUT_OF_RANGE: "The timestamp is more than 5 minutes from the instance's clock.",
  TIMESTAMP_REUSED: 'The timestamp is not newer than the last accepted one of this solver on this chain.',
  BOND_INSUFFICIENT:
    'The bond on the settlement contract, less what is being unstaked, is below the minimum.',
  ENDPOINT_REJECTED:
    'The endpoint is none that the instance calls: in production, https at public addresses and at port 443 or 1024 and above.',
  SOLVER_BLOCKED: 'The operator of the instance has removed this address, and not allowed it again.',
  SOLVER_LIMIT_REACHED: 'The chain has as many solvers as the instance takes, and none can be replaced now.',
  RATE_LIMITED: 'Too many requests; `Retry-After` says when to come back.',
  NO_QUOTES: 'No solver gave a valid quote in time.',
  SOLVERS_BUSY: 'All connections to solvers are taken; `Retry-After` says when to come back.',
  CHAIN_UNAVAILABLE: "The chain's RPC endpoints do not answer.",
  DATABASE_UNAVAILABLE: 'The database of the instance does not answer: try again in some seconds.',
  CURSOR_UNKNOWN: 'The cursor does not belong to the event log, or the events after it are no longer kept.',
  STREAM_LIMIT_REACHED: 'The client, its network or the whole instance has as many streams open as it may.',
  SUBSCRIBER_TOO_SLOW: 'The client took too little for too long.',
  SHUTTING_DOWN: 'The instance stops.',
  INTERNAL: 'The service failed; its log has the cause under the request id.',
}

/**
 * What a method answers when it fails, by ascending status.
 * @param method its full name
 * @param hasBody whether it is asked by a body, which may be too long
 * @throws when the closed list has no such method
 */
export function failuresOf(method: string, hasBody: boolean): Failure[] {
  const own = OWN[method]
  if (own === undefined) throw new Error(`${method}: nobody has said which reasons it answers`)
  const byStatus = new Map<number, Reason[]>(hasBody ? [[413, ['INVALID_ARGUMENT']]] : [])
  for (const reason of [...COMMON, ...own]) {
    const { http } = REASONS[reason]
    byStatus.set(http, [...(byStatus.get(http) ?? []), reason])
  }
  return [...byStatus]
    .map(([status, reasons]) => ({ status, reasons }))
    .sort((one, other) => one.status - other.status)
}
