import type {
  DescMessage,
  DescMethodUnary,
  Message,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf'
import { type FieldViolation, invalidArgument } from '../domain/errors.js'
import type { Address } from '../domain/hex.js'
import type { Cancellation } from '../quoting/fan-out.js'
import { Fields } from './fields.js'
import type { Client, LimitName } from './rate-limits.js'

/** How a call reached the service. */
export type Protocol = 'rest' | 'connect' | 'grpc' | 'grpc-web'

/** What the log's line of a request says of a quote. */
export interface QuoteSummary {
  readonly quoteId: string
  /** The solver of the best offer. */
  readonly winner: Address
  /** How many valid offers came. */
  readonly offers: number
}

/** One call, whatever protocol it came by. */
export interface RequestContext extends Client, Cancellation {
  readonly protocol: Protocol
  readonly requestId: string
  /** Has the log's line of the request say what came of a quote. */
  noteQuote(quote: QuoteSummary): void
}

/** A request of this service: every one of them names its chain. */
export type ChainMessage = Message & { readonly chainId: bigint }

/** A unary method of any message types. */
export interface Method {
  readonly desc: DescMethodUnary
  /** The limit that its calls count against. */
  readonly limit: LimitName
  /**
   * Answers a request with what a message of the output type is made of; implicit fields that are absent are zero.
   * The same object twice stands for the same answer.
   * @param unreadable fields that could not even be read into the message
   * @throws ServiceError, or anything unforeseen
   */
  answer(
    message: ChainMessage,
    call: RequestContext,
    malformed: readonly FieldViolation[],
  ): Promise<object> | object
}

interface MethodBody<I extends DescMessage, O extends DescMessage, R> {
  readonly limit: LimitName
  /** Translates the message, noting every bad field; the result is used only when none is noted. */
  read(message: MessageShape<I>, fields: Fields): R
  /** Calls the part of the house that knows, and translates back. */
  answer(request: R, call: RequestContext): Promise<MessageInitShape<O>> | MessageInitShape<O>
}

/** Makes a method from a descriptor and the translation of its messages. */
export function unaryMethod<I extends DescMessage, O extends DescMessage, R>(
  desc: DescMethodUnary<I, O>,
  body: MethodBody<I, O, R>,
): Method {
  return {
    desc,
    limit: body.limit,
    answer(message, call, malformed) {
      const fields = new Fields(malformed)
      const request = body.read(message as Message as MessageShape<I>, fields)
      if (fields.violations.length > 0) throw invalidArgument(fields.violations)
      return body.answer(request, call)
    },
  }
}
