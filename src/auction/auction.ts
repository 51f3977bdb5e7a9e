import { chainNotSupported, type ServiceError } from '../../packages/protocol/src/errors.js'
import { rank } from '../../packages/protocol/src/quotes/offer.js'
import type { QuoteRequest, SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import type { VerifyMode } from '../../packages/protocol/src/quotes/verification.js'
import { createOfferValidator } from '../../packages/protocol/src/signing/offer-validator.js'
import type { QuoteHasher } from '../../packages/protocol/src/signing/typed-data.js'
import { askedSession, NO_ENDPOINT } from '../../packages/protocol/src/solvers/solver.js'
import type { CallContext } from '../clients/call.js'
import { requestBody } from '../solvers/transport/solver-http-client.js'
import {
  SESSION_ENDED,
  type SolverRequest,
  type SolverTransport,
} from '../solvers/transport/solver-transports.js'
import { pairOf } from '../standing/lessons.js'
import type { Standings } from '../standing/standing.js'
import { type Attempt, CUT_OFF } from './attempt.js'
import type { AuctionContext } from './context.js'
import { createLearnRequest, hasLostTime } from './lessons-of-round.js'
import { createOfferVerifier, type RankedRound, verifyRound } from './offer-verifier.js'
import type { QuoteIds } from './quote-ids.js'
import { type OnBest, Round, type RoundTime, type RoundTimes, type SoftDeadline } from './round.js'
import { countResults, type RoundCounts } from './round-counts.js'
import type { RoundErrors } from './round-errors.js'
import { type RoundSink, tell } from './sinks.js'
import type { Asked, SolverChoice } from './solver-choice.js'

/** Collects offers. */
export interface Auction {
  /** @throws ServiceError CHAIN_UNAVAILABLE until the chain has been read for the first time */
  assertReady(chainId: number): void
  /**
   * Asks solvers in parallel once, then checks and ranks their replies (docs/decisions.md, D4). With `verify`, the
   * settlement contract checks the offers as well (docs/decisions.md, D13).
   * @throws ServiceError CHAIN_UNAVAILABLE
   */
  runRound(request: QuoteRequest, caller: RoundCall, options?: RoundOptions): Promise<RoundResult>
}

/** Rounds that begin at once. */
export type Rounds = ReturnType<typeof createRounds>

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
export interface RoundParts {
  readonly choice: SolverChoice
  readonly standings: Standings
  /** Asks a solver at its endpoint. */
  readonly http: SolverTransport
  readonly quoteIds: QuoteIds
  readonly sinks: readonly RoundSink[]
  readonly roundErrors: RoundErrors
}

/** The request of one round, as its solvers get it. */
interface Question {
  readonly request: QuoteRequest
  /** As `pairOf` writes it. */
  readonly pair: string
  readonly hasher: QuoteHasher
  readonly solverRequest: SolverRequest
}

/** Builds the rounds. A round goes through it from top to bottom: choose, ask, check, rank, verify, tell. Then it reads on, and learns. */
export function createRounds(context: AuctionContext, parts: RoundParts) {
  const { chains, sessions, clock } = context
  const { choice, standings, http, quoteIds, sinks, roundErrors } = parts
  const { quoteTimeoutMs } = context.config
  const softMs = context.config.quoteSoftTimeoutMs || Number.POSITIVE_INFINITY
  const { stageSeconds } = context.metrics
  const validateOffer = createOfferValidator(context.rules, context.metrics)
  const verifier = createOfferVerifier(context)

  function hasherOf(chainId: number): QuoteHasher {
    const chain = chains.get(chainId)
    if (chain === undefined) throw chainNotSupported(chainId, [...chains.keys()])
    return chain.quoteHasher()
  }

  function toQuestion(
    request: QuoteRequest,
    pair: string,
    quoteId: string,
    solvers: readonly Asked[],
    { requestedAt, limitMs }: RoundTimes,
  ): Question {
    const ids = quoteIds.forSolvers(quoteId, solvers.length)
    // To the millisecond, as solvers see it.
    const deadline = Math.floor(clock.now() + limitMs) - Math.floor(clock.monotonic() - requestedAt)
    const solverRequest: SolverRequest = {
      request,
      body: Buffer.from(requestBody(request)),
      quoteIds: new Map(solvers.map(({ solver }, index) => [solver.address, ids[index] ?? ''])),
      deadline,
    }
    return { request, pair, hasher: hasherOf(request.chainId), solverRequest }
  }

  /** Asks one solver on its session if it has one, else at its endpoint (docs/decisions.md, D18), and checks its reply. */
  async function ask({ solverRequest, ...question }: Question, attempt: Attempt) {
    if (!(await attempt.takeSlot())) return CUT_OFF
    const { solver } = attempt.asked
    const session = askedSession(solver)
    if (session === undefined && solver.endpointUrl === NO_ENDPOINT) {
      attempt.onEnd()
      return SESSION_ENDED
    }
    const transport = session === undefined ? http : sessions
    const reply = await transport.requestQuote(solver, solverRequest, attempt, attempt)
    if (reply.kind !== 'replied') return reply
    return validateOffer({ ...question, solver: solver.address, body: reply.body })
  }

  function openRound(
    question: Question,
    asked: readonly Asked[],
    times: RoundTimes,
    caller: RoundCall,
    onBest: OnBest | undefined,
  ): Round {
    const { request, pair, solverRequest } = question
    const learn = createLearnRequest(request, pair, caller.client, standings, clock.monotonic)
    return new Round({
      times,
      asked,
      async ask(attempt) {
        const result = await ask(question, attempt)
        // Before the caller gets it: the events of its order may come at any time after that.
        if (result.kind === 'quoted' && attempt.told === undefined)
          tell(sinks, { kind: 'offer', request, offer: result.offer })
        return result
      },
      signal: caller.signal,
      clock,
      onBest,
      onEnd(ended, round) {
        learn(ended, round)
        const { told } = ended.attempt
        if (told !== undefined)
          tell(sinks, { kind: 'cut_off_ended', attempt: told, quoteIds: solverRequest.quoteIds })
      },
    })
  }

  /** Asks a solver with an open circuit breaker whether it answers again. Nobody waits for it. */
  function probe(question: Question, asked: Asked, caller: RoundCall): void {
    const requestedAt = clock.monotonic()
    const times = { requestedAt, waitedMs: 0, limitMs: quoteTimeoutMs, readMs: quoteTimeoutMs, softMs }
    const { request, solverRequest } = question
    const round = new Round({
      times: { ...times, softDeadline: undefined },
      asked: [asked],
      isProbe: true,
      ask: (attempt) => ask(question, attempt),
      signal: new AbortController().signal,
      clock,
      onEnd(ended) {
        if (hasLostTime(ended) === false) standings.recordAnswer(asked.solver, caller.client.network, false)
        tell(sinks, { kind: 'probed', request, attempt: ended.settled, quoteIds: solverRequest.quoteIds })
      },
    })
    void round.start()
  }

  /** @returns the valid offers, best first */
  function rankOffers({ attempts }: Round): RankedRound {
    const start = clock.monotonic()
    const ranked = rank(attempts.flatMap(({ result }) => (result.kind === 'quoted' ? [result.offer] : [])))
    stageSeconds.observe({ stage: 'rank' }, (clock.monotonic() - start) / 1000)
    return { ranked, attempts: [...attempts] }
  }

  return {
    assertReady: hasherOf,
    async run(
      request: QuoteRequest,
      caller: RoundCall,
      { softDeadline, depositWindow, verify = 'off', onBest }: RoundOptions,
      { requestedAt, limitMs, callersLimitMs }: RoundTime,
    ): Promise<RoundResult> {
      const { chainId } = request
      const startedAt = clock.monotonic()
      const quoteId = quoteIds.create()
      const requestedTime = clock.now()
      const times: RoundTimes = {
        requestedAt,
        waitedMs: startedAt - requestedAt,
        limitMs,
        readMs: quoteTimeoutMs,
        softMs,
        softDeadline,
      }

      const pair = pairOf(request, depositWindow)
      const { asked, probed, busy, notAsked } = choice.of(chainId, pair, requestedAt + limitMs)
      if (asked.length === 0 && busy > 0) {
        tell(sinks, { kind: 'unstarted', request, outcome: 'busy' })
        return { quoteId, offers: [], counts: countResults(0, []), error: roundErrors.busy(chainId) }
      }
      const tellBest: OnBest | undefined =
        onBest &&
        ((offer, attempts) => onBest({ quoteId, offer, counts: countResults(asked.length, attempts) }))

      const question = toQuestion(request, pair, quoteId, [...asked, ...probed], times)
      for (const solver of probed) probe(question, solver, caller)
      const round = openRound(question, asked, times, caller, tellBest)
      stageSeconds.observe({ stage: 'prepare' }, (clock.monotonic() - startedAt) / 1000)
      await round.start()
      const endedAt = clock.monotonic()
      stageSeconds.observe({ stage: 'solvers' }, (endedAt - startedAt) / 1000)

      const answered = rankOffers(round)
      const { ranked, attempts } =
        (verify === 'off' && request.minDepositDeadline === undefined) || answered.ranked.length === 0
          ? answered
          : await verifyRound(answered, verifier, {
              request,
              mode: verify,
              timeoutMs: callersLimitMs - (endedAt - requestedAt),
              signal: caller.signal,
              onBest: tellBest,
            })

      tell(sinks, {
        kind: 'ended',
        quoteId,
        request,
        pair,
        key: caller.client.apiKey?.label,
        requestedAt: requestedTime,
        durationMs: endedAt - startedAt,
        idleMs: round.bestAt === undefined ? undefined : endedAt - round.bestAt,
        outcome: caller.signal.aborted ? 'cancelled' : ranked.length > 0 ? 'quoted' : 'no_quotes',
        ranked,
        attempts,
        checked: answered.attempts,
        probed: probed.map(({ solver }) => solver.address),
        quoteIds: question.solverRequest.quoteIds,
      })
      const ended = { asked: asked.length, notAsked, attempts }
      const error = ranked.length > 0 ? undefined : roundErrors.noOffer(chainId, quoteId, ended)
      return {
        quoteId,
        offers: ranked,
        get counts() {
          return countResults(asked.length, attempts)
        },
        error,
      }
    },
  }
}
