import type { DescField } from '@bufbuild/protobuf'
import { MAX_NAME_LENGTH, NAME_PATTERN } from '../../domain/display-name.js'
import { ENDPOINT_URL_SCHEMA } from '../../domain/endpoint-url.js'

/** A JSON schema (draft 2020-12), or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The largest integer that every JSON reader reads exactly. */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER

const ADDRESS = { pattern: '^0x[0-9a-fA-F]{40}$' }
const BYTES32 = { pattern: '^0x[0-9a-fA-F]{64}$' }
const LOWER_CASE_BYTES32 = { pattern: '^0x[0-9a-f]{64}$' }
/** A signature of 65 bytes. */
export const SIGNATURE = { pattern: '^0x[0-9a-fA-F]{130}$' }
const POSITIVE = { pattern: '^[1-9][0-9]{0,77}$' }
const UINT256 = { pattern: '^(0|[1-9][0-9]{0,77})$' }
const UUID = { format: 'uuid' }
const CURSOR = { minLength: 1 }
const TEXT = { minLength: 1 }
const CHAIN_ID = { minimum: 1 }
const UNIX_MS = { minimum: 1 }
const NAME = { minLength: 1, maxLength: MAX_NAME_LENGTH, pattern: NAME_PATTERN }

const OFFER = {
  solver_signature: SIGNATURE,
  deposit_address: ADDRESS,
  order_id: LOWER_CASE_BYTES32,
}
const SWAP = { input_token: ADDRESS, input_amount: UINT256, output_token: ADDRESS, output_amount: UINT256 }

/**
 * The constraints on values that descriptors cannot express, by message and field. The methods of `src/rpc` check those of
 * requests; responses satisfy theirs. Every string field is here.
 */
const CONSTRAINTS: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> = {
  'aggregator.v1.GetQuoteRequest': {
    chain_id: CHAIN_ID,
    input_token: ADDRESS,
    output_token: ADDRESS,
    amount: POSITIVE,
    user_address: ADDRESS,
    origin_chain_id: CHAIN_ID,
    destination_chain_id: CHAIN_ID,
    deposit_window: { minimum: 1, maximum: 86_400 },
  },
  'aggregator.v1.GetQuoteResponse': { ...OFFER, quote_id: UUID },
  'aggregator.v1.SignedQuote': OFFER,
  'aggregator.v1.Quote': {
    ...SWAP,
    solver: ADDRESS,
    user: ADDRESS,
    order_type: { enum: [0, 1] },
    nonce: UINT256,
  },
  'aggregator.v1.GetQuoteRecordRequest': { chain_id: CHAIN_ID, quote_id: UUID },
  'aggregator.v1.GetQuoteRecordResponse': { quote_id: UUID, best_amount: UINT256 },
  'aggregator.v1.QuoteParameters': {
    input_token: ADDRESS,
    output_token: ADDRESS,
    amount: POSITIVE,
    user_address: ADDRESS,
  },
  'aggregator.v1.SolverResult': {
    solver: ADDRESS,
    rank: { minimum: 1 },
    input_amount: TEXT,
    output_amount: TEXT,
    reason: TEXT,
    http_status: { minimum: 100, maximum: 999 },
    explanation: TEXT,
  },
  'aggregator.v1.RegisterSolverRequest': {
    chain_id: CHAIN_ID,
    address: ADDRESS,
    endpoint_url: ENDPOINT_URL_SCHEMA,
    name: NAME,
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
  'aggregator.v1.Solver': { address: ADDRESS, name: NAME, registered_at: UNIX_MS },
  'aggregator.v1.GetOrderRequest': { chain_id: CHAIN_ID, order_id: BYTES32 },
  'aggregator.v1.GetOrderResponse': { ...SWAP, order_id: LOWER_CASE_BYTES32, user: ADDRESS, solver: ADDRESS },
  'aggregator.v1.StreamEventsRequest': {
    after: CURSOR,
    order_id: BYTES32,
    user: ADDRESS,
    solver: ADDRESS,
  },
  'aggregator.v1.StreamEventsResponse': { cursor: CURSOR },
  'aggregator.v1.Deposited': { ...SWAP, order_id: LOWER_CASE_BYTES32, user: ADDRESS, solver: ADDRESS },
  'aggregator.v1.Settled': { order_id: LOWER_CASE_BYTES32 },
  'aggregator.v1.Refunded': {
    order_id: LOWER_CASE_BYTES32,
    user: ADDRESS,
    input_amount: UINT256,
    bond_slashed: UINT256,
  },
  'aggregator.v1.Reverted': { order_id: LOWER_CASE_BYTES32 },
}

/** The constraint on a field's values, or on the items of a list; undefined when the type is the only one. */
export function constraintOf(field: DescField): JsonSchema | undefined {
  return CONSTRAINTS[field.parent.typeName]?.[field.name]
}

/** The names of all constrained fields, for the test that each of them exists. */
export const constrainedFields = Object.entries(CONSTRAINTS).flatMap(([message, fields]) =>
  Object.keys(fields).map((field) => `${message}.${field}`),
)
