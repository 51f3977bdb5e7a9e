import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { type Signal, signal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import {
  type GetQuoteRecordResponse,
  OrderType,
  StreamQuotesRequestSchema,
} from '../../../../../gen/aggregator/v1/quote_pb.js'
import { quoteService } from '../api.js'
import { isVisible } from '../clock.js'
import { type Failure, toFailure } from '../failure.js'
import { retryPause } from '../request-times.js'
import { addImprovement, addRecord, endRound, type Offer, openRound, type Round } from './auction.js'

export type AuctionRequest = MessageInitShape<typeof StreamQuotesRequestSchema> & { readonly chainId: bigint }

/** Offers that a user can take, the best one first. */
interface TakeableOffers {
  readonly quoteId: string
  readonly offers: readonly Offer[]
  /** When they came, Unix time in milliseconds. */
  readonly cameAt: number
}

/** The auction for one request: its rounds follow each other while it is shown. */
export interface Auction {
  readonly round?: Round | undefined
  /** The last round that has ended. Its ranking can be read until the next one has ended. */
  readonly ended?: Round | undefined
  /** What can be taken: the offers of the last round that has ended, or the best one of the first round while it runs. */
  readonly takeable?: TakeableOffers | undefined
  /** When the next round begins, Unix time in milliseconds; undefined while one runs. */
  readonly nextAt?: number | undefined
  readonly failure?: Failure | undefined
}

export const REFRESH_SECONDS = 15
/** The offers of the last round that has ended in this tab: a record has no signatures. */
const lastOffers = signal<TakeableOffers | undefined>(undefined)
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 15_000
/** A record is written a moment after the answer. */
const RECORD_ATTEMPTS = 6
const RECORD_PAUSE_MS = 250

/**
 * Streams quotes for a request while the component is shown and the tab can be seen.
 * @param request undefined asks for none, and forgets the last auction
 * @param isOnce has one round only: solvers reserve liquidity for each offer
 */
export function useAuction(request: AuctionRequest | undefined, isOnce: boolean): Signal<Auction> {
  const key = request && keyOf(request)
  // Of its own for each request: not even for a frame is an offer shown for another one.
  const auction = useMemo(() => signal<Auction>({}), [key])
  const wanted = useMemo(() => signal<AuctionRequest | undefined>(undefined), [])
  useEffect(() => {
    wanted.value = request
  }, [key])
  useSignalEffect(() => {
    if (wanted.value === undefined || !isVisible.value) return
    const ending = new AbortController()
    void follow(wanted.value, auction, isOnce, ending.signal)
    return () => ending.abort()
  })
  return auction
}

async function follow(
  request: AuctionRequest,
  auction: Signal<Auction>,
  isOnce: boolean,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0
  const onRound = () => {
    failures = 0
  }
  while (!signal.aborted) {
    try {
      await readStream(request, auction, isOnce, signal, onRound)
      if (isOnce) return
    } catch (thrown) {
      if (signal.aborted) return
      const failure = toFailure(thrown)
      if (isOnce && failure.quoteId !== undefined)
        return endWithoutOffer(failure.quoteId, request, auction, signal)
      auction.value = { ...auction.peek(), nextAt: undefined, failure }
      if (/ARGUMENT|NOT_SUPPORTED/.test(failure.reason)) return
      const ms = retryPause(++failures, { firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS })
      await pause(Math.max(ms, failure.retryAfterMs ?? 0), signal)
    }
  }
}

/** Reads one stream to its end, which an instance sets after ten minutes. @param onRound called after each round */
async function readStream(
  request: AuctionRequest,
  auction: Signal<Auction>,
  isOnce: boolean,
  signal: AbortSignal,
  onRound: () => void,
): Promise<void> {
  const isOutput = request.orderType !== OrderType.EXACT_OUTPUT
  const message = create(StreamQuotesRequestSchema, {
    ...request,
    ...(!isOnce && { refreshSeconds: REFRESH_SECONDS }),
  })
  const openedAt = Date.now()
  let round = openRound(1, openedAt, isOutput)
  auction.value = { ...auction.peek(), round, nextAt: undefined }
  for await (const { message: part } of quoteService.streamQuotes(message, { signal })) {
    if (signal.aborted) return
    if (part.case !== 'quote' && part.case !== 'done') continue
    if (part.value.round !== round.number)
      round = openRound(part.value.round, expectedStart(openedAt, part.value.round), isOutput)
    const { takeable, ended } = auction.peek()
    const { quoteId } = part.value
    if (part.case === 'quote') {
      round = addImprovement(round, part.value, Date.now())
      // The first offers of a later round may be worse than the best one of the round before.
      const better = round.number === 1 ? { quoteId, offers: round.takeable, cameAt: Date.now() } : takeable
      auction.value = { round, ended, takeable: better }
      continue
    }
    onRound()
    round = endRound(round, part.value)
    lastOffers.value = round.best && { quoteId, offers: round.takeable, cameAt: Date.now() }
    auction.value = {
      round,
      ended: round,
      takeable: lastOffers.value,
      nextAt: isOnce ? undefined : expectedStart(openedAt, round.number + 1),
    }
    void showRecord(round.quoteId, request, auction, signal)
  }
}

/** A stream of one round ends with an error when the round has no offer. */
function endWithoutOffer(
  quoteId: string,
  request: AuctionRequest,
  auction: Signal<Auction>,
  signal: AbortSignal,
): Promise<void> {
  const { round } = auction.peek()
  if (round !== undefined) auction.value = { round: { ...round, quoteId, offers: 0, attempts: [] } }
  return showRecord(quoteId, request, auction, signal)
}

async function showRecord(
  quoteId: string,
  { chainId }: AuctionRequest,
  auction: Signal<Auction>,
  signal: AbortSignal,
): Promise<void> {
  const record = await readRecord(chainId, quoteId, signal)
  const shown = auction.peek()
  if (record === undefined || shown.round?.quoteId !== record.quoteId) return
  const round = addRecord(shown.round, record)
  auction.value = { ...shown, round, ended: round }
}

/** Rounds begin at regular times. One that waited for a limit begins when its first message comes. */
function expectedStart(openedAt: number, round: number): number {
  const regular = openedAt + (round - 1) * REFRESH_SECONDS * 1000
  return Date.now() - regular > REFRESH_SECONDS * 1000 ? Date.now() : regular
}

/** @returns undefined when the instance keeps no records */
async function readRecord(
  chainId: bigint,
  quoteId: string,
  signal: AbortSignal,
): Promise<GetQuoteRecordResponse | undefined> {
  for (let attempt = 0; attempt < RECORD_ATTEMPTS && !signal.aborted; attempt++) {
    await pause(RECORD_PAUSE_MS * attempt, signal)
    const record = await quoteService.getQuoteRecord({ chainId, quoteId }, { signal }).catch(() => undefined)
    if (record?.outcome !== undefined) return record
  }
  return undefined
}

function keyOf(request: AuctionRequest): string {
  return JSON.stringify(request, (_name, value) => (typeof value === 'bigint' ? String(value) : value))
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
