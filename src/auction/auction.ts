import { chainNotSupported, type ServiceError } from '../../packages/protocol/src/errors.js'
import type { QuoteRequest, SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import type { VerifyMode } from '../../packages/protocol/src/quotes/verification.js'
import { createOfferValidator } from '../../packages/protocol/src/signing/offer-validator.js'
import { toRequestBody } from '../../packages/protocol/src/signing/quote-request.js'
import type { QuoteHasher } from '../../packages/protocol/src/signing/typed-data.js'
import { askedSession, NO_ENDPOINT } from '../../packages/protocol/src/solvers/solver.js'
import type { SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { CallContext } from '../clients/call.js'
import type { SolverRequest, SolverTransport } from '../solvers/transport/solver-transports.js'
import { usualRate } from '../standing/pair.js'
import type { Standings } from '../standing/standing.js'
import { type Attempt, CUT_OFF, countResults, type RoundCounts, rankedOffers, sortByRank } from './attempt.js'
import type { AuctionContext } from './context.js'
import { createLearnRequest, pairOf } from './lessons-of-round.js'
import { createOfferVerifier } from './offer-verifier.js'
import type { QuoteIds } from './quote-ids.js'
import { type OnBest, Round, type RoundSetup, type SoftDeadline } from './round.js'
import { createRoundErrors } from './round-errors.js'
import { createStartQueue, limitsOf, type RoundLimits } from './round-queue.js'
import type { EndedRound, RoundSink, UnstartedOutcome } from './sinks.js'
import type { SolverChoice } from './solver-choice.js'

/** Collects offers. */
export interface Auction {
  /** @throws ServiceError CHAIN_UNAVAILABLE until the chain has been read for the first time */
  assertReady(chainId: number): void
  /**
   * Asks solvers in parallel once, then checks and ranks their replies (docs/decisions.md, D4). With `verify`, the
   * settlement contract checks the offers as well (docs/decisions.md, D13). A round that cannot begin within half of its
   * time asks no solver, and has the error SOLVERS_BUSY (docs/decisions.md, D14).
   * @throws ServiceError CHAIN_UNAVAILABLE until the chain has been read for the first time
   */
  runRound(request: QuoteRequest, caller: RoundCall, options?: RoundOptions): Promise<RoundResult>
}

/** What a round needs of the call of its caller. */
export type RoundCall = Pick<CallContext, 'client' | 'signal' | 'timeoutMs' | 'traceparent'>

/** Options of a round. */
export interface RoundOptions {
  /** Undefined for a round that waits for all solvers. */
  readonly softDeadline?: SoftDeadline | undefined
  /** In seconds; undefined for the instance's own. What solvers say to other ones says nothing of those. */
  readonly depositWindow?: number | undefined
  /** Which offers the settlement contract checks; `off` by default. */
  readonly verify?: VerifyMode
  /**
   * Called before the round ends: with each offer that is better than all before it, when the settlement contract has
   * accepted the best one, and with the next one when it has refused the best one.
   */
  readonly onBest?: (best: BestOffer) => void
}

/** The best offer of a round so far. */
export interface BestOffer {
  readonly quoteId: string
  readonly offer: SignedQuote
  readonly counts: RoundCounts
}

/** The offers of a round. */
export interface RoundResult {
  /** The caller's id of the round's record, a UUID. */
  readonly quoteId: string
  /** The valid offers, best first. */
  readonly offers: readonly SignedQuote[]
  readonly counts: RoundCounts
  /** Why there is no offer: NO_QUOTES or SOLVERS_BUSY; undefined when there is one. */
  readonly error: ServiceError | undefined
}

/** The parts of all rounds. */
interface RoundParts {
  readonly choice: SolverChoice
  readonly standings: Standings
  /** Asks a solver at its endpoint. */
  readonly http: SolverTransport
  readonly quoteIds: QuoteIds
  readonly sinks: readonly RoundSink[]
}

/** The part of its limit for which a round may wait to begin. Solvers need the other half. */
const MAX_WAIT_PART = 1 / 2
/** The result of a request that a defect of the service has ended. */
const BROKEN = {
  kind: 'failed',
  reason: 'connection_lost',
  message: 'a request to a solver failed within the service',
} as const

/**
 * Builds the auction. A round goes through it from top to bottom: choose, ask, check, rank, verify, tell. Then it reads on,
 * and learns.
 */
export function createAuction(context: AuctionContext, parts: RoundParts): Auction {
  const { chains, sessions, config, clock, log } = context
  const { choice, standings, http, quoteIds, sinks } = parts
  const { quoteTimeoutMs } = config
  const softMs = config.quoteSoftTimeoutMs || Number.POSITIVE_INFINITY
  const queue = createStartQueue(clock)
  const validateOffer = createOfferValidator(context.rules.violationOf, context.metrics)
  const verifyOffers = createOfferVerifier(context)
  const roundErrors = createRoundErrors(context)

  function observe(stage: 'prepare' | 'solvers' | 'rank', since: number): void {
    context.metrics.stageSeconds.observe({ stage }, (clock.monotonic() - since) / 1000)
  }

  /** Does what no round depends on. A defect there is logged, and hurts nobody else. */
  function safely(work: () => void): void {
    try {
      work()
    } catch (error) {
      log.error({ err: error }, 'a part that hears of rounds has failed')
    }
  }

  function tell(event: (sink: RoundSink) => void): void {
    for (const sink of sinks) safely(() => event(sink))
  }

  /** @throws ServiceError CHAIN_UNAVAILABLE until the chain has been read for the first time */
  function hasherOf(chainId: number): QuoteHasher {
    const chain = chains.get(chainId)
    if (chain === undefined) throw chainNotSupported(chainId, [...chains.keys()])
    return chain.quoteHasher()
  }

  /** Asks one solver on its session if it has one, else at its endpoint (docs/decisions.md, D18), and checks its reply. */
  async function ask(
    solverRequest: SolverRequest,
    hasher: QuoteHasher,
    attempt: Attempt,
  ): Promise<SolverResult> {
    if (!(await attempt.takeSlot())) return CUT_OFF
    const { solver } = attempt.asked
    const hasSession = askedSession(solver) !== undefined || solver.endpointUrl === NO_ENDPOINT
    const transport: SolverTransport = hasSession ? sessions : http
    const reply = await transport.requestQuote(solver, solverRequest, attempt, attempt)
    if (reply.kind !== 'replied') return reply
    return validateOffer({ request: solverRequest.request, hasher, solver: solver.address, body: reply.body })
  }

  /** @param learn gets each request that has ended */
  function openRound(
    quoteId: string,
    request: QuoteRequest,
    learn: RoundSetup['onEnd'],
    setup: Pick<RoundSetup, 'times' | 'asked' | 'signal' | 'onBest'>,
  ): Round {
    const { requestedAt, limitMs } = setup.times
    const hasher = hasherOf(request.chainId)
    const solverRequest: SolverRequest = {
      request,
      body: Buffer.from(JSON.stringify(toRequestBody(request))),
      // To the millisecond, as solvers see it.
      deadline: Math.floor(clock.now() + limitMs) - Math.floor(clock.monotonic() - requestedAt),
    }
    return new Round({
      ...setup,
      quoteIdOf: (index) => quoteIds.forSolver(quoteId, index),
      async ask(attempt) {
        const result = await ask(solverRequest, hasher, attempt).catch((error) => {
          log.error({ quoteId, solver: attempt.asked.solver.address, err: error }, BROKEN.message)
          attempt.onEnd()
          return BROKEN
        })
        // Before the caller gets it: the events of its order may come at any time after that.
        if (result.kind === 'quoted' && attempt.told === undefined)
          tell((sink) => sink.onOffer?.(request, result.offer))
        return result
      },
      clock,
      onEnd(ended, round) {
        safely(() => learn(ended, round))
        const { told } = ended.attempt
        if (told !== undefined) tell((sink) => sink.onEndedLater?.(told))
      },
    })
  }

  /** The result of a round that asks no solver. */
  function unstarted(request: QuoteRequest, outcome: UnstartedOutcome): RoundResult {
    tell((sink) => sink.onUnstarted?.(request, outcome))
    const { chainId } = request
    const quoteId = quoteIds.create()
    const counts = countResults(0, [])
    const error =
      outcome === 'cancelled'
        ? roundErrors.noOffer(chainId, quoteId, counts, 0)
        : roundErrors.busy(chainId, outcome)
    return { quoteId, offers: [], counts, error }
  }

  async function run(
    request: QuoteRequest,
    { client, signal, traceparent }: RoundCall,
    { softDeadline, depositWindow, verify = 'off', onBest }: RoundOptions,
    limits: RoundLimits,
  ): Promise<RoundResult> {
    const { chainId } = request
    const requestedAt = clock.now()
    const startedAt = clock.monotonic()
    const waitedMs = startedAt - limits.requestedAt
    const pair = pairOf(request, depositWindow)
    const pairs = standings.pairsOf(chainId)
    // Callers share a price: the answers of the one who asks first must not decide what others see.
    const scorecards =
      request.kind === 'FIRM'
        ? pairs.scorecardsOf(pair, client, startedAt)
        : { pair: pairs.of(pair), client: undefined, mayTeach: false }
    const endsAt = limits.requestedAt + limits.limitMs
    const { asked, busy, notAsked } = choice.of(chainId, scorecards, endsAt)
    if (asked.length === 0 && busy > 0) return unstarted(request, 'busy')

    const quoteId = quoteIds.create()
    const tellBest: OnBest = (offer, attempts) =>
      safely(() => onBest?.({ quoteId, offer, counts: countResults(asked.length, attempts) }))
    const readMs = quoteTimeoutMs
    const times = { ...limits, waitedMs, readMs, softMs, softDeadline, usualRate: usualRate(scorecards) }
    const learn = createLearnRequest(request, pair, client, scorecards.mayTeach, standings, clock.monotonic)
    const round = openRound(quoteId, request, learn, { times, asked, signal, onBest: tellBest })
    observe('prepare', startedAt)
    await round.start()
    const endedAt = clock.monotonic()
    observe('solvers', startedAt)

    const timeoutMs = limits.callersLimitMs - (endedAt - limits.requestedAt)
    const verification = { request, mode: verify, timeoutMs, signal, onBest: tellBest }
    const isChecked = verify !== 'off' || request.minDepositDeadline !== undefined
    const attempts =
      isChecked && round.best !== undefined
        ? await verifyOffers(round.attempts, verification)
        : round.attempts
    const rankedAt = clock.monotonic()
    const offers = rankedOffers(attempts)
    observe('rank', rankedAt)

    const ended: EndedRound = {
      quoteId,
      request,
      pair,
      key: client.apiKey?.label,
      traceparent,
      requestedAt,
      durationMs: endedAt - startedAt,
      waitedMs,
      verifyMs: verify === 'off' || round.best === undefined ? undefined : rankedAt - endedAt,
      outcome: signal.aborted ? 'cancelled' : offers.length > 0 ? 'quoted' : 'no_quotes',
      attempts: sortByRank(attempts, offers),
      checked: round.attempts,
    }
    tell((sink) => sink.onAnswer?.(ended))
    const counts = countResults(asked.length, attempts)
    if (offers.length > 0) return { quoteId, offers, counts, error: undefined }
    const isQueued = attempts.some(({ result }) => 'isQueued' in result)
    const error = isQueued
      ? roundErrors.busy(chainId, 'busy', quoteId)
      : roundErrors.noOffer(chainId, quoteId, counts, notAsked)
    return { quoteId, offers, counts, error }
  }

  return {
    assertReady: (chainId) => void hasherOf(chainId),
    async runRound(request, caller, options = {}) {
      const limits = limitsOf(caller.timeoutMs, options.verify ?? 'off', config, clock.monotonic())
      return new Promise((resolve) => {
        queue.add({
          client: caller.client,
          latestAt: limits.requestedAt + limits.limitMs * MAX_WAIT_PART,
          signal: caller.signal,
          start: () => resolve(run(request, caller, options, limits)),
          refuse: (outcome) => resolve(unstarted(request, outcome)),
        })
      })
    },
  }
}
