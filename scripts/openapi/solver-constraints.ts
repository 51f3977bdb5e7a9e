import {
  ADDRESS,
  AMOUNT,
  CHAIN_ID,
  LOWER_CASE_BYTES32,
  SIGNATURE,
  STATS_WINDOW,
  UINT256,
  UNIX_MS,
} from '../../packages/protocol/src/field-rules.js'
import { DISPLAY_NAME } from '../../packages/protocol/src/values/display-name.js'
import { ENDPOINT_URL } from '../../packages/protocol/src/values/endpoint-url.js'
import { type Constraints, CURSOR, PAGE_TOKEN, TEXT, UUID } from './constraint.js'

/** JSON Schema has a name for the rule of an origin. */
const ORIGIN = { format: 'uri' }
/** What JSON Schema can say of a display name: it has no Unicode patterns. */
const SHORT_NAME = { minLength: 1, maxLength: DISPLAY_NAME.maxLength }

/** What solvers are asked for, which records show too. */
export const ASKED_OF_SOLVERS = {
  input_token: ADDRESS,
  output_token: ADDRESS,
  amount: AMOUNT,
  user_address: ADDRESS,
}

/** The constraints on messages of SolverService and of sessions. */
export const SOLVER_CONSTRAINTS: Constraints = {
  'aggregator.v1.RegisterSolverRequest': {
    chain_id: CHAIN_ID,
    address: ADDRESS,
    endpoint_url: ENDPOINT_URL,
    name: DISPLAY_NAME,
    signature: SIGNATURE,
    timestamp: UNIX_MS,
  },
  'aggregator.v1.RegisterSolverResponse': { status: { const: 'registered' }, address: ADDRESS },
  'aggregator.v1.RegistrationCheck': { explanation: TEXT },
  'aggregator.v1.UnregisterSolverRequest': {
    chain_id: CHAIN_ID,
    address: ADDRESS,
    signature: SIGNATURE,
    timestamp: UNIX_MS,
  },
  'aggregator.v1.UnregisterSolverResponse': { status: { const: 'removed' }, address: ADDRESS },
  'aggregator.v1.ListSolversRequest': { chain_id: CHAIN_ID },
  'aggregator.v1.Solver': { address: ADDRESS, name: DISPLAY_NAME, registered_at: UNIX_MS },
  'aggregator.v1.ListSolverStatsRequest': { chain_id: CHAIN_ID, window: STATS_WINDOW },
  'aggregator.v1.ListSolverStatsResponse': { window: STATS_WINDOW },
  'aggregator.v1.GetSolverStatsRequest': { chain_id: CHAIN_ID, address: ADDRESS, window: STATS_WINDOW },
  'aggregator.v1.GetSolverStatsResponse': { window: STATS_WINDOW },
  'aggregator.v1.SolverStats': {
    solver: ADDRESS,
    // Empty for a solver that is no longer registered.
    name: { maxLength: DISPLAY_NAME.maxLength },
    fill_rate: { minimum: 0, maximum: 1 },
    median_response_ms: { minimum: 1 },
    p95_response_ms: { minimum: 1 },
    total_bond: UINT256,
    free_bond: UINT256,
  },
  'aggregator.v1.SolverHour': { median_response_ms: { minimum: 1 }, p95_response_ms: { minimum: 1 } },
  'aggregator.v1.ListOwnResultsRequest': {
    chain_id: CHAIN_ID,
    address: ADDRESS,
    timestamp: UNIX_MS,
    audience: ORIGIN,
    signature: SIGNATURE,
    page_token: PAGE_TOKEN,
  },
  'aggregator.v1.ListOwnResultsResponse': {
    next_page_token: PAGE_TOKEN,
    total_bond: UINT256,
    free_bond: UINT256,
  },
  'aggregator.v1.OwnResult': { quote_id: UUID, requested_at: UNIX_MS, best_amount: UINT256 },
  'aggregator.v1.SessionChallenge': { nonce: LOWER_CASE_BYTES32, server_time: UNIX_MS },
  'aggregator.v1.SessionHello': {
    address: ADDRESS,
    name: SHORT_NAME,
    audience: ORIGIN,
    chain_ids: CHAIN_ID,
    signature: SIGNATURE,
  },
  'aggregator.v1.SessionEvents': { after: PAGE_TOKEN },
  'aggregator.v1.SessionReady': { session_id: UUID, heartbeat_ms: { minimum: 1 }, cursor: CURSOR },
  'aggregator.v1.SessionLimits': { max_message_bytes: { minimum: 1 }, max_open_requests: { minimum: 1 } },
  'aggregator.v1.SessionQuoteRequest': {
    ...ASKED_OF_SOLVERS,
    id: UUID,
    deadline: UNIX_MS,
    chain_id: CHAIN_ID,
    destination_chain_id: CHAIN_ID,
  },
  'aggregator.v1.SessionQuote': { id: UUID, signature: SIGNATURE },
  'aggregator.v1.SessionDecline': { id: UUID },
  'aggregator.v1.SessionPong': { id: UUID },
  'aggregator.v1.SessionResult': { id: UUID, reason: TEXT, rank: { minimum: 1 } },
  'aggregator.v1.SessionEvent': { cursor: CURSOR },
  'aggregator.v1.SessionPing': { id: UUID },
  'aggregator.v1.SessionGoAway': { reconnect_within_ms: { minimum: 1 } },
}
