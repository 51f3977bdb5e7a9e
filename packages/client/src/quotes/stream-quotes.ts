import { QUOTE_OPTION_RULES, REFRESH_SECONDS } from '../../../protocol/src/field-rules.js'
import type { SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { AggregatorError, UnreadableAnswer } from '../calls/aggregator-error.js'
import {
  readBytes32,
  readInteger,
  readList,
  readMessage,
  readOptional,
  readText,
} from '../calls/answer-fields.js'
import { parseJson } from '../calls/json.js'
import type { Messages } from '../calls/message-types.js'
import { untilSilent } from '../streams/silence.js'
import type { ServerSentEvent } from '../streams/sse-reader.js'
import { type QuoteParams, readSignedQuote, toQuoteBody } from './get-quote.js'

/** The swap that a user asks for, and how often. */
export interface QuoteStreamParams extends QuoteParams {
  /** Seconds from the start of a round to the start of the next one, 5 to 60. One round when left out. */
  readonly refreshSeconds?: number | undefined
}

export interface QuoteStreamOptions {
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal | undefined
}

/** The best offer of a round so far. It supersedes all earlier ones of its round. */
export interface QuoteUpdate {
  readonly type: 'quote'
  /** Names the record of the round. */
  readonly quoteId: string
  /** Number of the round, from 1. */
  readonly round: number
  readonly offer: SignedQuote
  /** Solvers that the round waits for. */
  readonly asked: number
  /** Solvers of those whose result is known. */
  readonly answered: number
}

/** The end of a round. Solvers that were asked and are in no count were cut off by the soft deadline. */
export interface QuoteRoundEnd {
  readonly type: 'done'
  /** Names the record of the round. */
  readonly quoteId: string
  readonly round: number
  /** The best offer; undefined when the round has none. */
  readonly best: SignedQuote | undefined
  /** The others, best first. A user can take each of them. */
  readonly alternatives: readonly SignedQuote[]
  /** Solvers that the round waited for. */
  readonly asked: number
  /** Solvers with a valid offer. */
  readonly quoted: number
  /** Solvers that refused. */
  readonly declined: number
  /** Solvers whose reply was not valid. */
  readonly invalid: number
  /** Solvers that could not be reached. */
  readonly failed: number
  /** Solvers without a reply in time. */
  readonly late: number
  /** The best offer's deposit deadline, Unix time in milliseconds. */
  readonly expiresAt: number | undefined
}

export type QuoteStreamMessage = QuoteUpdate | QuoteRoundEnd

/** Makes the body of a request for a stream. @throws AggregatorError INVALID_ARGUMENT */
export function toQuoteStreamBody(
  params: QuoteStreamParams,
): Omit<Messages['StreamQuotesRequest'], 'chainId'> {
  return toQuoteBody(params, { ...QUOTE_OPTION_RULES, refreshSeconds: REFRESH_SECONDS })
}

/** Opens a stream of quotes. @param read reads one block of it @throws AggregatorError, while it is iterated */
export type OpenQuotes = (
  read: (block: ServerSentEvent) => QuoteStreamMessage | undefined,
  signal: AbortSignal,
) => AsyncIterable<QuoteStreamMessage | undefined>

/**
 * Follows one stream of quotes to its end.
 * @throws AggregatorError of the instance; CONNECTION_FAILED when the stream breaks, is silent or ends within a round
 */
export async function* streamQuotes(
  open: OpenQuotes,
  signal: AbortSignal,
): AsyncGenerator<QuoteStreamMessage, void, void> {
  const read = createReader()
  let last: QuoteStreamMessage['type'] | undefined
  try {
    for await (const message of untilSilent((ending) => open(read, ending), signal)) {
      if (message === undefined) continue
      last = message.type
      yield message
    }
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
  if (last !== 'done' && !signal.aborted)
    throw new AggregatorError('CONNECTION_FAILED', 'The instance has ended the stream within a round.')
}

/**
 * Builds a reader of the blocks of one stream. It knows the offers of the current round.
 * @returns the reader. It returns undefined for a heartbeat, and for an event that this version of the client does not know.
 */
function createReader(): (block: ServerSentEvent) => QuoteStreamMessage | undefined {
  let round = 0
  let isEnded = true
  let best: SignedQuote | undefined

  /** @throws UnreadableAnswer for a round that is over, or that begins while the one before it is not */
  function enterRound(value: unknown): number {
    const next = readInteger(value)
    if (isEnded ? next <= round : next !== round)
      throw new UnreadableAnswer(`round ${next} after round ${round}`)
    if (isEnded) best = undefined
    round = next
    isEnded = false
    return next
  }

  function readUpdate(answer: unknown): QuoteUpdate {
    const message = readMessage<'QuoteUpdate'>(answer)
    const entered = enterRound(message.round)
    best = readSignedQuote(message, () => undefined)
    return {
      type: 'quote',
      quoteId: readText(message.quoteId),
      round: entered,
      offer: best,
      asked: readInteger(message.asked),
      answered: readInteger(message.answered),
    }
  }

  function readEnd(answer: unknown): QuoteRoundEnd {
    const message = readMessage<'QuoteRoundEnd'>(answer)
    const entered = enterRound(message.round)
    isEnded = true
    const bestOrderId = readOptional(message.bestOrderId, readBytes32)
    if (bestOrderId !== undefined && bestOrderId !== best?.orderId)
      throw new UnreadableAnswer(`the best order ${bestOrderId} instead of ${best?.orderId ?? 'none'}`)
    return {
      type: 'done',
      quoteId: readText(message.quoteId),
      round: entered,
      best: bestOrderId === undefined ? undefined : best,
      alternatives: readList(message.alternativeQuotes).map((offer) =>
        readSignedQuote(offer, () => undefined),
      ),
      asked: readInteger(message.asked),
      quoted: readInteger(message.quoted),
      declined: readInteger(message.declined),
      invalid: readInteger(message.invalid),
      failed: readInteger(message.failed),
      late: readInteger(message.late),
      expiresAt: readOptional(message.expiresAt, readInteger),
    }
  }

  return ({ event, data }) => {
    if (data === '') return undefined
    if (event === 'quote') return readUpdate(parseJson(data))
    return event === 'done' ? readEnd(parseJson(data)) : undefined
  }
}
