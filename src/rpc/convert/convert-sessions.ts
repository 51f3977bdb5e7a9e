import { create, type MessageInitShape } from '@bufbuild/protobuf'
import {
  ChosenBy,
  DeclineCode,
  type Quote,
  QuoteKind,
  SolverOutcome,
} from '../../../gen/aggregator/v1/quote_pb.js'
import {
  type OpenSessionRequest,
  type OpenSessionResponse,
  OpenSessionResponseSchema,
  type SessionHello,
  type SessionQuoteRequestSchema,
} from '../../../gen/aggregator/v1/session_pb.js'
import { type FieldViolation, invalidArgument } from '../../../packages/protocol/src/errors.js'
import {
  DECLINE_CODES,
  type DeclineCode as DeclineCodeName,
} from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Entry } from '../../events/tail-buffer.js'
import type { Hello, InstanceMessage, SolverMessage } from '../../sessions/messages.js'
import type { SolverRequest } from '../../solvers/transport/solver-transports.js'
import { toEventMessage } from './convert-events.js'
import { toParametersMessage } from './convert-records.js'

type MessageInit = NonNullable<MessageInitShape<typeof OpenSessionResponseSchema>['message']>

/** A message of a session except events, which are several messages. */
export type SingleMessage = Exclude<InstanceMessage, { type: 'events' }>

/** The message that a solver gets. */
export function toSessionMessage(message: SingleMessage): OpenSessionResponse {
  return create(OpenSessionResponseSchema, { message: toInit(message) })
}

/** The message of an event. */
export function toSessionEvent(entry: Entry): OpenSessionResponse {
  const { cursor } = entry
  const value = { event: toEventMessage(entry), cursor }
  return create(OpenSessionResponseSchema, { message: { case: 'event', value } })
}

/**
 * Reads a hello.
 * @param malformed fields that could not be read into the message
 * @throws ServiceError CHAIN_NOT_SUPPORTED or INVALID_ARGUMENT, with every bad field
 */
export type ReadHello = (message: SessionHello, malformed?: readonly FieldViolation[]) => Hello

/** @throws ServiceError INVALID_ARGUMENT or CHAIN_NOT_SUPPORTED */
export function toSolverMessage({ message }: OpenSessionRequest, readHello: ReadHello): SolverMessage {
  switch (message.case) {
    case 'hello':
      return { type: 'hello', hello: readHello(message.value) }
    case 'quote': {
      const { id, quote, signature } = message.value
      return { type: 'quote', id, body: { quote: quote && toQuoteJson(quote), signature } }
    }
    case 'decline':
      return { type: 'decline', id: message.value.id, code: declineCodeOf(DeclineCode[message.value.code]) }
    case 'pong':
      return { type: 'pong', id: message.value.id }
    default:
      throw invalidArgument([{ field: 'message', message: 'must be hello, quote, decline or pong' }])
  }
}

/** A code by its name without prefix; a code of a newer version counts as OTHER. */
export function declineCodeOf(name: string | undefined): DeclineCodeName {
  return DECLINE_CODES.find((code) => code === name) ?? 'OTHER'
}

function toInit(message: SingleMessage): MessageInit {
  switch (message.type) {
    case 'challenge':
      return { case: 'challenge', value: { nonce: message.nonce, serverTime: BigInt(message.serverTime) } }
    case 'ready': {
      const { sessionId, heartbeatMs, maxMessageBytes, maxOpenRequests, cursor } = message
      const value = { sessionId, heartbeatMs, limits: { maxMessageBytes, maxOpenRequests } }
      return { case: 'ready', value: cursor === undefined ? value : { ...value, cursor } }
    }
    case 'quoteRequest':
      return { case: 'quoteRequest', value: toQuoteRequest(message.id, message.solverRequest) }
    case 'result': {
      const { outcome, chosenBy, ...result } = message.result
      const enums = { outcome: SolverOutcome[outcome], chosenBy: chosenBy && ChosenBy[chosenBy] }
      return { case: 'result', value: { id: message.id, ...result, ...enums } }
    }
    case 'ping':
      return { case: 'ping', value: { id: message.id } }
    case 'goAway':
      return { case: 'goAway', value: { reconnectWithinMs: message.reconnectWithinMs } }
  }
}

function toQuoteRequest(
  id: string,
  { request, deadline }: SolverRequest,
): MessageInitShape<typeof SessionQuoteRequestSchema> {
  return {
    id,
    deadline: BigInt(deadline),
    kind: QuoteKind[request.kind],
    chainId: BigInt(request.chainId),
    ...toParametersMessage(request),
  }
}

/** The quote as the validator of replies reads it: the JSON of a solver's reply. */
function toQuoteJson({ $typeName: _, $unknown: __, ...quote }: Quote): object {
  return { ...quote, outputChainId: Number(quote.outputChainId) }
}
