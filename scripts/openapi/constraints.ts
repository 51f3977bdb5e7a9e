import type { DescField, DescMessage } from '@bufbuild/protobuf'
import {
  ADDRESS,
  AMOUNT,
  BYTES32,
  CHAIN_ID,
  DECIMALS,
  DEPOSIT_WINDOW,
  DOMAIN_TEXT,
  LOWER_CASE_BYTES32,
  MAX_QUOTE_TIMEOUT_MS,
  PROTOCOL_NAME,
  QUOTE_OPTION_RULES,
  REFRESH_SECONDS,
  SIGNATURE,
  UINT256,
  UNIX_MS,
} from '../../packages/protocol/src/field-rules.js'
import {
  ORDER_EVENT_FIELDS,
  ORDER_EVENT_TYPES,
  type OrderEventType,
} from '../../packages/protocol/src/orders/event.js'
import { ORDER_STATES } from '../../packages/protocol/src/orders/order.js'
import { DEAD_CODES } from '../../packages/protocol/src/quotes/offer-state.js'
import { ORDER_TYPES } from '../../packages/protocol/src/quotes/quote.js'
import { DISPLAY_NAME, TOKEN_SYMBOL } from '../../packages/protocol/src/values/display-name.js'
import { type Constraint, type Constraints, CURSOR, PAGE_TOKEN, TEXT, UUID } from './constraint.js'
import { ASKED_OF_SOLVERS, SOLVER_CONSTRAINTS } from './solver-constraints.js'

/** A JSON schema (draft 2020-12), or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A list has only orders with events, so the contract knows each of them. */
const LISTED_STATE = { enum: ORDER_STATES.filter((state) => state !== 'NONE') }

const ASKED_SWAP = { chain_id: CHAIN_ID, input_token: ADDRESS, output_token: ADDRESS, amount: AMOUNT }
const ASKED_QUOTE = {
  ...ASKED_SWAP,
  user_address: ADDRESS,
  origin_chain_id: CHAIN_ID,
  destination_chain_id: CHAIN_ID,
  ...Object.fromEntries(Object.entries(QUOTE_OPTION_RULES).flatMap(optionConstraint)),
}
const OFFER = {
  solver_signature: SIGNATURE,
  deposit_address: ADDRESS,
  order_id: LOWER_CASE_BYTES32,
  expires_at: UNIX_MS,
}
const TOKEN = { address: ADDRESS, symbol: TOKEN_SYMBOL, decimals: DECIMALS }
/** A sum of amounts, which may exceed a uint256. */
const VOLUME = { pattern: /^(0|[1-9][0-9]*)$/ }
const SWAP = { input_token: ADDRESS, input_amount: UINT256, output_token: ADDRESS, output_amount: UINT256 }

/**
 * The constraints on values that descriptors cannot express, by message and field. The methods of `src/rpc` check those of
 * requests; responses satisfy theirs. Every string field is here.
 */
const CONSTRAINTS: Constraints = {
  ...SOLVER_CONSTRAINTS,
  'aggregator.v1.GetQuoteRequest': ASKED_QUOTE,
  'aggregator.v1.StreamQuotesRequest': { ...ASKED_QUOTE, refresh_seconds: REFRESH_SECONDS },
  'aggregator.v1.QuoteUpdate': { ...OFFER, quote_id: UUID, round: { minimum: 1 }, server_time: UNIX_MS },
  'aggregator.v1.QuoteRoundEnd': {
    quote_id: UUID,
    round: { minimum: 1 },
    best_order_id: LOWER_CASE_BYTES32,
    expires_at: UNIX_MS,
    server_time: UNIX_MS,
  },
  'aggregator.v1.GetPriceRequest': {
    ...ASKED_SWAP,
    min_deposit_window: QUOTE_OPTION_RULES.minDepositWindow,
  },
  'aggregator.v1.GetPriceResponse': { offers: { minimum: 1 }, as_of: UNIX_MS, server_time: UNIX_MS },
  'aggregator.v1.Price': {
    solver: ADDRESS,
    name: DISPLAY_NAME,
    input_amount: UINT256,
    output_amount: UINT256,
  },
  'aggregator.v1.GetQuoteResponse': { ...OFFER, quote_id: UUID, server_time: UNIX_MS },
  'aggregator.v1.SignedQuote': OFFER,
  'aggregator.v1.Call': { to: ADDRESS, data: { pattern: /^0x[0-9a-f]+$/ }, value: { const: '0x0' } },
  'aggregator.v1.Approval': { token: ADDRESS, spender: ADDRESS, amount: AMOUNT },
  'aggregator.v1.Quote': {
    ...SWAP,
    solver: ADDRESS,
    user: ADDRESS,
    order_type: { enum: [...ORDER_TYPES.keys()] },
    nonce: UINT256,
  },
  'aggregator.v1.CheckOfferRequest': { chain_id: CHAIN_ID, solver_signature: SIGNATURE },
  'aggregator.v1.CheckOfferResponse': {
    order_id: LOWER_CASE_BYTES32,
    code: { enum: DEAD_CODES },
    refusal: TEXT,
    expires_at: UNIX_MS,
    server_time: UNIX_MS,
    retry_after_ms: { minimum: 1 },
  },
  'aggregator.v1.GetQuoteRecordRequest': { chain_id: CHAIN_ID, quote_id: UUID },
  'aggregator.v1.GetQuoteRecordResponse': { quote_id: UUID, best_amount: UINT256 },
  'aggregator.v1.QuoteParameters': ASKED_OF_SOLVERS,
  'aggregator.v1.SolverResult': {
    solver: ADDRESS,
    rank: { minimum: 1 },
    input_amount: TEXT,
    output_amount: TEXT,
    reason: TEXT,
    http_status: { minimum: 100, maximum: 999 },
    explanation: TEXT,
  },
  'aggregator.v1.GetOrderRequest': { chain_id: CHAIN_ID, order_id: BYTES32 },
  'aggregator.v1.GetOrderResponse': { ...SWAP, order_id: LOWER_CASE_BYTES32, user: ADDRESS, solver: ADDRESS },
  'aggregator.v1.OrderStep': { transaction_hash: LOWER_CASE_BYTES32 },
  'aggregator.v1.ListOrdersRequest': {
    chain_id: CHAIN_ID,
    user: ADDRESS,
    solver: ADDRESS,
    state: LISTED_STATE,
    page_token: PAGE_TOKEN,
  },
  'aggregator.v1.ListOrdersResponse': { next_page_token: PAGE_TOKEN },
  'aggregator.v1.Order': {
    ...SWAP,
    order_id: LOWER_CASE_BYTES32,
    state: LISTED_STATE,
    user: ADDRESS,
    solver: ADDRESS,
  },
  'aggregator.v1.StreamEventsRequest': {
    after: CURSOR,
    order_id: BYTES32,
    user: ADDRESS,
    solver: ADDRESS,
  },
  'aggregator.v1.StreamEventsResponse': { cursor: CURSOR },
  ...Object.fromEntries(
    ORDER_EVENT_TYPES.map((type) => [`aggregator.v1.${type}`, eventConstraints(type)] as const),
  ),
  'aggregator.v1.Reverted': { order_id: LOWER_CASE_BYTES32, transaction_hash: LOWER_CASE_BYTES32 },
  'aggregator.v1.ChainHealth': { chain_id: CHAIN_ID },
  'aggregator.v1.Chain': {
    chain_id: CHAIN_ID,
    settlement: ADDRESS,
    protocol_name: PROTOCOL_NAME,
    minimum_bond: UINT256,
    destination_chain_ids: CHAIN_ID,
    default_deposit_window: DEPOSIT_WINDOW,
    fill_window: { minimum: 1 },
    quote_timeout_ms: { minimum: 1, maximum: MAX_QUOTE_TIMEOUT_MS },
    quote_soft_timeout_ms: { maximum: MAX_QUOTE_TIMEOUT_MS },
    max_quote_fan_out: { minimum: 1 },
    name: DISPLAY_NAME,
    explorer_url: { format: 'uri' },
    public_rpc_url: { format: 'uri' },
    bond_reservation_bps: { maximum: 10_000 },
  },
  'aggregator.v1.MissCost': { token: ADDRESS, symbol: TOKEN_SYMBOL, bond: UINT256 },
  'aggregator.v1.Eip712Domain': {
    name: DOMAIN_TEXT,
    version: DOMAIN_TEXT,
    verifying_contract: ADDRESS,
    salt: LOWER_CASE_BYTES32,
  },
  'aggregator.v1.Token': TOKEN,
  'aggregator.v1.ListTokensRequest': { chain_id: CHAIN_ID },
  'aggregator.v1.TokenSummary': {
    ...TOKEN,
    logo: { pattern: /^\/logos\/[0-9a-f]{16}\.(png|svg)$/ },
    name: DISPLAY_NAME,
  },
  'aggregator.v1.ListPairsRequest': { chain_id: CHAIN_ID },
  'aggregator.v1.PairSummary': {
    input_token: ADDRESS,
    output_token: ADDRESS,
    input_volume_24h: VOLUME,
    output_volume_24h: VOLUME,
  },
}

/** The constraints of an event. Numbers have only those of their types. */
function eventConstraints(type: OrderEventType): Readonly<Record<string, Constraint>> {
  const fields = Object.entries(ORDER_EVENT_FIELDS[type]).flatMap(([name, kind]) =>
    kind === 'seconds' ? [] : [[protoName(name), kind === 'address' ? ADDRESS : UINT256] as const],
  )
  return {
    order_id: LOWER_CASE_BYTES32,
    transaction_hash: LOWER_CASE_BYTES32,
    ...Object.fromEntries(fields),
  }
}

/** Values of a list are those of the field's enum. */
function optionConstraint([name, rule]: [string, Constraint | readonly string[]]): [string, Constraint][] {
  return 'length' in rule ? [] : [[protoName(name), rule]]
}

function protoName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The constraints on messages as a whole, as keywords of JSON Schema. */
const WHOLE: Readonly<Record<string, JsonSchema>> = {
  'aggregator.v1.StreamQuotesRequest': { dependentRequired: { minQuotes: ['softDeadlineMs'] } },
}

/** The constraint on a message as a whole; undefined when its fields have the only ones. */
export function constraintOfMessage({ typeName }: DescMessage): JsonSchema | undefined {
  return WHOLE[typeName]
}

/** The constraint on a field's values, or on the items of a list; undefined when the type is the only one. */
export function constraintOf(field: DescField): JsonSchema | undefined {
  const constraint = CONSTRAINTS[field.parent.typeName]?.[field.name]
  return constraint && schemaOf(constraint)
}

/** A rule as a part of a JSON schema. */
export function schemaOf({ mustBe: _, pattern, ...keywords }: Constraint): JsonSchema {
  // The source of a regular expression escapes slashes, as its literal does.
  return pattern === undefined ? keywords : { ...keywords, pattern: pattern.source.replaceAll('\\/', '/') }
}

/** The names of all constrained fields, for the test that each of them exists. */
export const constrainedFields = Object.entries(CONSTRAINTS).flatMap(([message, fields]) =>
  Object.keys(fields).map((field) => `${message}.${field}`),
)
