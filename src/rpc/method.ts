import type {
  DescMessage,
  DescMethodUnary,
  Message,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf'
import { type FieldViolation, invalidArgument } from '../domain/errors.js'
import type { Address } from '../domain/hex.js'
import type { Caller } from '../quoting/fan-out.js'
import { Fields } from './fields.js'
import type { Client, LimitName } from './rate-limits.js'

/** The protocol of a call. */
export type Protocol = 'rest' | 'connect' | 'grpc' | 'grpc-web'

/** The result of a quote in the log's line of its request. */
export interface QuoteSummary {
  readonly quoteId: string
  /** The solver of the best offer. */
  readonly winner: Address
  /** Number of valid offers. */
  readonly offers: number
}

/** One call, over any protocol. */
export interface RequestContext extends Client, Caller {
  readonly protocol: Protocol
  readonly requestId: string
  /** Adds the result of a quote to the log's line of the request. */
  recordQuote(quote: QuoteSummary): void
}

/** A request of this service, which always names its chain. */
export type ChainMessage = Message & { readonly chainId: bigint }

/** A unary method of any message types. */
export interface Method {
  readonly desc: DescMethodUnary
  /** The limit that its calls count against. */
  readonly limit: LimitName
  /**
   * Handles a request.
   * @param malformed fields that could not be read into the message
   * @returns the initial values of a message of the output type: absent implicit fields are zero. When a method returns
   * the same object again, the response is the same.
   * @throws ServiceError, or any unexpected error
   */
  handle(
    message: ChainMessage,
    call: RequestContext,
    malformed: readonly FieldViolation[],
  ): Promise<object> | object
}

interface MethodBody<I extends DescMessage, O extends DescMessage, R> {
  readonly limit: LimitName
  /** Translates the message and records every bad field. The result is used only when there is none. */
  read(message: MessageShape<I>, fields: Fields): R
  /** Calls the domain code, and translates its result. */
  handle(request: R, call: RequestContext): Promise<MessageInitShape<O>> | MessageInitShape<O>
}

/** Builds a method from a descriptor and the translation of its messages. */
export function unaryMethod<I extends DescMessage, O extends DescMessage, R>(
  desc: DescMethodUnary<I, O>,
  body: MethodBody<I, O, R>,
): Method {
  return {
    desc,
    limit: body.limit,
    handle(message, call, malformed) {
      const fields = new Fields(malformed)
      const request = body.read(message as Message as MessageShape<I>, fields)
      if (fields.violations.length > 0) throw invalidArgument(fields.violations)
      return body.handle(request, call)
    },
  }
}
