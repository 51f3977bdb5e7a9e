import { QUOTE_OPTION_RULES, REFRESH_SECONDS } from '../../../protocol/src/field-rules.js'
import type { SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { AggregatorError, UnreadableAnswer } from '../calls/aggregator-error.js'
import {
  messageReader,
  optional,
  type ReadBy,
  type Readers,
  readBytes32,
  readInteger,
  readList,
  readMessage,
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

/** What both messages of a round have. */
const ROUND = {
  /** Names the record of the round. */
  quoteId: readText,
  /** Number of the round, from 1. */
  round: readInteger,
  /** Solvers that the round waits for. */
  asked: readInteger,
}

/** The best offer of a round so far. It supersedes all earlier ones of its round. */
export type QuoteUpdate = { readonly type: 'quote'; readonly offer: SignedQuote } & ReadBy<typeof UPDATE>
const UPDATE = {
  ...ROUND,
  /** Solvers of those whose result is known. */
  answered: readInteger,
} satisfies Readers<'QuoteUpdate'>

/** The end of a round. Solvers that were asked and are in no count were cut off by the soft deadline. */
export type QuoteRoundEnd = {
  readonly type: 'done'
  /** The best offer; undefined when the round has none. */
  readonly best: SignedQuote | undefined
  /** The others, best first. A user can take each of them. */
  readonly alternatives: readonly SignedQuote[]
} & ReadBy<typeof END>
const END = {
  ...ROUND,
  /** Solvers with a valid offer. */
  quoted: readInteger,
  /** Solvers that refused. */
  declined: readInteger,
  /** Solvers whose reply was not valid. */
  invalid: readInteger,
  /** Solvers that could not be reached. */
  failed: readInteger,
  /** Solvers without a reply in time. */
  late: readInteger,
  /** The best offer's deposit deadline, Unix time in milliseconds. */
  expiresAt: optional(readInteger),
} satisfies Readers<'QuoteRoundEnd'>

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

const readUpdate = messageReader(UPDATE)
const readEnd = messageReader(END)
/** The offers of a stream are whole. */
const readOffer = (answer: unknown) => readSignedQuote(answer, () => undefined)

/**
 * Builds a reader of the blocks of one stream. It knows the offers of the current round.
 * @returns the reader. It returns undefined for a heartbeat, and for an event that this version of the client does not know.
 */
function createReader(): (block: ServerSentEvent) => QuoteStreamMessage | undefined {
  let round = 0
  let isEnded = true
  let best: SignedQuote | undefined

  /** @throws UnreadableAnswer for a round that is over, or that begins while the one before it is not */
  function enterRound(next: number): void {
    if (isEnded ? next <= round : next !== round)
      throw new UnreadableAnswer(`round ${next} after round ${round}`)
    if (isEnded) best = undefined
    round = next
    isEnded = false
  }

  return ({ event, data }) => {
    if (data === '' || (event !== 'quote' && event !== 'done')) return undefined
    const answer = parseJson(data)
    if (event === 'quote') {
      const facts = readUpdate(answer)
      enterRound(facts.round)
      best = readOffer(answer)
      return { type: event, ...facts, offer: best }
    }
    const facts = readEnd(answer)
    enterRound(facts.round)
    isEnded = true
    const { bestOrderId, alternativeQuotes } = readMessage<'QuoteRoundEnd'>(answer)
    const bestId = optional(readBytes32)(bestOrderId)
    if (bestId !== undefined && bestId !== best?.orderId)
      throw new UnreadableAnswer(`the best order ${bestId} instead of ${best?.orderId ?? 'none'}`)
    const alternatives = readList(alternativeQuotes).map(readOffer)
    return { type: event, ...facts, best: bestId && best, alternatives }
  }
}
