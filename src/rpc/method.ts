import type {
  DescMessage,
  DescMethod,
  DescMethodUnary,
  Message,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf'
import type { Reason } from '../../packages/protocol/src/errors.js'
import type { LimitName } from '../clients/api-key.js'
import type { CallContext, Protocol } from '../clients/call.js'
import type { Fields } from './fields.js'
import type { LimitedCall } from './limits/rate-limits.js'

/** How a call ended, in the metrics. MALFORMED: its bytes were not a message, so that it reached no method. */
export type Outcome = Reason | 'OK' | 'MALFORMED'

/** The limits of a method, and the count of its calls. */
export interface Admission {
  readonly desc: DescMethod
  /** Counts a call against its limits before its message is read. @throws ServiceError RATE_LIMITED, or another one */
  checkLimits(call: LimitedCall): Promise<void>
  /**
   * Counts in the metrics how a call ended. Of a method that streams, these are the calls that do not reach it.
   * @param seconds from the request to its response
   */
  count(protocol: Protocol, outcome: Outcome, seconds: number): void
}

/** A request that names its chain. */
type ChainMessage = Message & { readonly chainId: bigint }

/** A unary method of the messages I and O. */
interface MethodOf<I, O, R> {
  /** The limit that its calls count against. */
  readonly limit: LimitName
  /** Translates the message and records every bad field. The result is used only when there is none. */
  read(message: I, fields: Fields): R
  /**
   * Calls the domain code, and translates its result.
   * @returns the initial values of a message of the output type: absent implicit fields are zero
   * @throws ServiceError, or any unexpected error
   */
  handle(request: R, call: CallContext): Promise<O> | O
}

/** A unary method of any message types. */
export interface Method extends MethodOf<Message, object, unknown> {
  readonly desc: DescMethodUnary
  /** Whether its requests name a chain: whether the message has the field `chain_id`. */
  readonly hasChain: boolean
}

/** Builds a method from a descriptor and the translation of its messages. */
export function unaryMethod<I extends DescMessage, O extends DescMessage, R>(
  desc: DescMethodUnary<I, O>,
  method: MethodOf<MessageShape<I>, MessageInitShape<O>, R>,
): Method {
  // Connect and the transcoder pass messages of the descriptor's types.
  const untyped = method as unknown as MethodOf<Message, object, unknown>
  return { desc, hasChain: namesChain(desc), ...untyped }
}

/** Whether the requests of a method name a chain, whose support is checked before everything else. */
export function namesChain({ input }: DescMethod): boolean {
  return input.fields.some(({ name }) => name === 'chain_id')
}

/** The chain of a request; undefined when its method has none. */
export function chainIn(message: Message): number | undefined {
  const { chainId } = message as Partial<ChainMessage>
  return chainId === undefined ? undefined : Number(chainId)
}
