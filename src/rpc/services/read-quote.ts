import {
  DepositMode,
  type GetQuoteRequest,
  OrderType,
  type StreamQuotesRequest,
  VerifyMode as VerifyModeNumber,
} from '../../../gen/aggregator/v1/quote_pb.js'
import type { ChainConfig, Config } from '../../config/config.js'
import { DEPOSIT_WINDOW, integerOf, MIN_QUOTES } from '../../domain/field-rules.js'
import { DEPOSIT_MODES, deadlines, ORDER_TYPES, type QuoteRequest } from '../../domain/quotes/quote.js'
import { VERIFY_MODES, type VerifyMode } from '../../domain/quotes/verification.js'
import { ownSoftDeadline, type SoftDeadline } from '../../quoting/round/fan-out.js'
import { byNumber } from '../convert/convert.js'
import type { Fields } from './fields.js'

/** A valid request for quotes. */
export interface AskedQuote {
  readonly chainId: number
  readonly softDeadline: SoftDeadline | undefined
  readonly verify: VerifyMode
  /** Makes the request of a round, with its deadlines. */
  toRequest(): QuoteRequest
}

/** Reads the fields that GetQuote and StreamQuotes share. The result is used only when there is no violation. */
export type ReadQuote = (message: QuoteMessage, fields: Fields) => AskedQuote

type QuoteMessage = Omit<GetQuoteRequest, '$typeName'> | Omit<StreamQuotesRequest, '$typeName'>

interface ReadQuoteOptions
  extends Pick<
    Config,
    | 'quoteTimeoutMs'
    | 'quoteSoftTimeoutMs'
    | 'defaultDepositWindowSeconds'
    | 'defaultFillWindowSeconds'
    | 'verifyQuotes'
    | 'verifyMax'
  > {
  readonly chains: readonly Pick<ChainConfig, 'chainId' | 'destinationChains'>[]
  /** Unix time in milliseconds. */
  readonly now: () => number
}

const ORDER_TYPE_NAMES = byNumber(ORDER_TYPES, OrderType)
const DEPOSIT_MODE_NAMES = byNumber(DEPOSIT_MODES, DepositMode)

/** The fields of a swap. */
type SwapMessage = Pick<GetQuoteRequest, 'chainId' | 'inputToken' | 'outputToken' | 'orderType' | 'amount'>

/** Reads the fields that quotes and prices share. */
export function readSwap(message: SwapMessage, fields: Fields) {
  const inputToken = fields.address('inputToken', message.inputToken)
  const outputToken = fields.address('outputToken', message.outputToken)
  if (outputToken === inputToken) fields.addViolation('outputToken', 'must differ from inputToken')
  return {
    chainId: Number(message.chainId),
    inputToken,
    outputToken,
    orderType: fields.choice('orderType', message.orderType, ORDER_TYPE_NAMES) ?? 'EXACT_INPUT',
    amount: fields.amount('amount', message.amount),
  }
}

/** Builds the reader of requests for quotes. */
export function createReadQuote(options: ReadQuoteOptions): ReadQuote {
  const { quoteTimeoutMs, quoteSoftTimeoutMs, verifyQuotes, verifyMax, now } = options
  const destinations = new Map(options.chains.map((chain) => [chain.chainId, chain.destinationChains]))
  const softDeadlineRule = integerOf(0, quoteTimeoutMs)
  const verifyModes = byNumber(VERIFY_MODES.slice(0, VERIFY_MODES.indexOf(verifyMax) + 1), VerifyModeNumber)

  /** @returns undefined when the round waits for all solvers */
  function readSoftDeadline(
    { softDeadlineMs, minQuotes }: QuoteMessage,
    fields: Fields,
  ): SoftDeadline | undefined {
    const afterMs =
      softDeadlineMs === undefined
        ? quoteSoftTimeoutMs
        : fields.integer('softDeadlineMs', softDeadlineMs, softDeadlineRule)
    if (minQuotes !== undefined) {
      fields.integer('minQuotes', minQuotes, MIN_QUOTES)
      if (afterMs === 0) fields.addViolation('minQuotes', 'must be left out without softDeadlineMs')
    }
    if (softDeadlineMs === undefined) return ownSoftDeadline(afterMs, minQuotes)
    return afterMs === 0 ? undefined : { afterMs, minQuotes: minQuotes ?? 1, isOwn: false }
  }

  function readVerify({ verify }: QuoteMessage, fields: Fields): VerifyMode {
    return (verify === undefined ? undefined : fields.choice('verify', verify, verifyModes)) ?? verifyQuotes
  }

  return (message, fields) => {
    if (message.originChainId !== message.chainId)
      fields.addViolation('originChainId', `must equal the chain of the request, ${message.chainId}`)
    const swap = readSwap(message, fields)
    const terms = {
      user: fields.address('userAddress', message.userAddress),
      destinationChainId: fields.oneOf(
        'destinationChainId',
        message.destinationChainId,
        destinations.get(swap.chainId) ?? [],
      ),
      depositMode: fields.choice('depositMode', message.depositMode, DEPOSIT_MODE_NAMES) ?? 'CONTRACT',
    }
    const window = message.depositWindow ?? options.defaultDepositWindowSeconds
    const windows = {
      depositWindowSeconds: fields.integer('depositWindow', window, DEPOSIT_WINDOW),
      fillWindowSeconds: options.defaultFillWindowSeconds,
    }
    return {
      chainId: swap.chainId,
      softDeadline: readSoftDeadline(message, fields),
      verify: readVerify(message, fields),
      toRequest: () => ({ kind: 'FIRM', ...swap, ...terms, ...deadlines(now(), windows) }),
    }
  }
}
