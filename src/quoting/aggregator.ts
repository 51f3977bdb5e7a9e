import type { Chain } from '../chain/chain.js'
import { chainNotSupported, ServiceError } from '../domain/errors.js'
import { rank } from '../domain/offer.js'
import type { QuoteRequest, SignedQuote } from '../domain/quote.js'
import { QuoteRound } from '../solvers/quote-round.js'
import type { Selection } from '../solvers/selection.js'
import { createSolverRequest } from '../solvers/solver-client.js'
import type { SolverDirectory } from '../solvers/solver-directory.js'
import type { SolverHealthRegistry } from '../solvers/solver-health-registry.js'
import type { BufferedHistogram } from '../telemetry/buffered-histogram.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { AttemptResult } from './attempt-result.js'
import type { ContractRules } from './contract-rules.js'
import type { Caller, FanOut } from './fan-out.js'
import type { QuoteIds } from './quote-ids.js'
import type { QuoteRecorder } from './quote-recorder.js'
import type { AttemptTrace, QuoteTrace } from './quote-trace.js'
import { requestBody } from './request-body.js'

/** Collects quotes. */
export interface Aggregator {
  /**
   * Asks solvers in parallel, then checks and ranks their replies (docs/decisions.md, D4).
   * @returns the valid offers, best first; at least one
   * @throws ServiceError NO_QUOTES with the quote's id, SOLVERS_BUSY, or CHAIN_UNAVAILABLE
   */
  quote(request: QuoteRequest, caller: Caller): Promise<RankedOffers>
}

/** The offers of a quote. */
export interface RankedOffers {
  /** The caller's id of the quote's record, a UUID. */
  readonly quoteId: string
  readonly offers: readonly SignedQuote[]
}

interface AggregatorOptions {
  readonly directory: Pick<SolverDirectory, 'active'>
  readonly chains: ReadonlyMap<number, Pick<Chain, 'quoteHasher'>>
  readonly healthRegistry: Pick<SolverHealthRegistry, 'of'>
  readonly rules: Pick<ContractRules, 'isKnown'>
  readonly selection: Selection
  readonly fanOut: FanOut
  readonly quoteIds: Pick<QuoteIds, 'create' | 'forSolvers'>
  readonly recorder: Pick<QuoteRecorder, 'record'>
  /** Called with each request that has a valid offer. */
  readonly onQuoted: (request: QuoteRequest) => void
  readonly maxQuoteFanOut: number
  /** The key by which circuit breakers count a client. */
  readonly clientKeyOf: (address: string) => string
  /** The clock of the solvers' health. */
  readonly clock: () => number
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly stages: Pick<BufferedHistogram, 'of'>
  readonly metrics: Pick<Metrics, 'quotes' | 'solverReplies'>
  readonly log: Logger
}

/** When a connection to a solver is likely to be free again. */
const RETRY_AFTER_SECONDS = 1
/** The interval of warnings that solvers are busy. */
const BUSY_WARNING_MS = 60_000

/** Builds the aggregator. */
export function createAggregator(options: AggregatorOptions): Aggregator {
  const { directory, chains, healthRegistry, rules, selection, fanOut, quoteIds, recorder } = options
  const { clock, now, metrics, log } = options
  let busyWarnedAt = Number.NEGATIVE_INFINITY
  const recordStage = {
    prepare: options.stages.of('prepare'),
    solvers: options.stages.of('solvers'),
    rank: options.stages.of('rank'),
  }

  function countOffers(chainId: number, offers: number): void {
    metrics.solverReplies.inc({ chain_id: chainId, outcome: 'quoted', reason: '' }, offers)
  }

  function countLoss(chainId: number, outcome: Exclude<AttemptResult, { kind: 'quoted' }>): void {
    const reason = outcome.kind === 'invalid' ? outcome.reason : ''
    metrics.solverReplies.inc({ chain_id: chainId, outcome: outcome.kind, reason })
  }

  /** @returns the offers, in the order of their arrival */
  function countResults(chainId: number, results: readonly AttemptTrace[]): SignedQuote[] {
    const offers: SignedQuote[] = []
    for (const { outcome } of results) {
      if (outcome.kind === 'quoted') offers.push(outcome.offer)
      else countLoss(chainId, outcome)
    }
    if (offers.length > 0) countOffers(chainId, offers.length)
    return offers
  }

  function conclude(trace: QuoteTrace): void {
    const { quoteId, request, outcome, durationMs, results, circuitOpen } = trace
    metrics.quotes.inc({ chain_id: request.chainId, outcome })
    recorder.record(trace)
    if (outcome === 'quoted') options.onQuoted(request)
    if (outcome !== 'no_quotes') return
    const outcomes = results.map((result) => ({ ...result, tookMs: Math.round(result.tookMs) }))
    log.warn(
      { quoteId, chainId: request.chainId, durationMs, outcomes, circuitOpen },
      'no solver gave a valid quote',
    )
  }

  /** Asks the selected solvers. */
  async function requestQuotes(request: QuoteRequest, quoteId: string, caller: Caller) {
    const { chainId } = request
    const hasher = chains.get(chainId)?.quoteHasher()
    if (hasher === undefined) throw chainNotSupported([...chains.keys()])
    const healths = healthRegistry
      .of(chainId, directory.active(chainId))
      .filter(({ solver }) => rules.isKnown(solver))
    // Read the clock after the health: the trial of a solver at a new endpoint may begin at that moment.
    const start = clock()
    const clientKey = () => options.clientKeyOf(caller.address)
    const limitMs = fanOut.limitMs(caller)
    const round = new QuoteRound({ request, startedAt: start, limitMs, clientKey })
    const { awaited, probed, busy } = selection.pick(chainId, healths, options.maxQuoteFanOut, round, start)
    const solvers = awaited.concat(probed).map(({ solver }) => solver.address)
    const ids = quoteIds.forSolvers(quoteId, solvers.length)
    const idOf = new Map(solvers.map((solver, index) => [solver, ids[index] ?? '']))
    const prepared = { request, hasher, solverRequest: createSolverRequest(requestBody(request), idOf) }
    for (const health of probed) {
      fanOut.probe(prepared, health, clientKey, (outcome) => {
        if (outcome.kind === 'quoted') countOffers(chainId, 1)
        else countLoss(chainId, outcome)
      })
    }
    if (awaited.length === 0 && busy > 0) {
      metrics.quotes.inc({ chain_id: chainId, outcome: 'busy' })
      throw solversBusy(chainId)
    }
    const collecting = fanOut.collect(prepared, awaited, round, caller)
    const askedAt = clock()
    recordStage.prepare((askedAt - start) / 1000)
    const results = await collecting
    const end = clock()
    recordStage.solvers((end - askedAt) / 1000)
    return { results, solvers, circuitOpen: solvers.slice(awaited.length), durationMs: end - start }
  }

  /** @param quoteId the id of the record, when there is one */
  function solversBusy(chainId: number, quoteId?: string): ServiceError {
    if (clock() - busyWarnedAt > BUSY_WARNING_MS) {
      busyWarnedAt = clock()
      log.warn({ chainId }, 'quotes are rejected: all connections to solvers are in use')
    }
    const message = `All connections to solvers are in use: try again in ${RETRY_AFTER_SECONDS} s.`
    const retryAfterSeconds = RETRY_AFTER_SECONDS
    return new ServiceError('SOLVERS_BUSY', message, {
      retryAfterSeconds,
      ...(quoteId === undefined ? {} : { quoteId }),
    })
  }

  function rankInTime(offers: readonly SignedQuote[]): SignedQuote[] {
    const start = clock()
    const ranked = rank(offers)
    recordStage.rank((clock() - start) / 1000)
    return ranked
  }

  return {
    async quote(request, caller) {
      const quoteId = quoteIds.create()
      const requestedAt = now()
      const roundResult = await requestQuotes(request, quoteId, caller)
      const offers = rankInTime(countResults(request.chainId, roundResult.results))
      const outcome = caller.isCancelled() ? 'cancelled' : offers.length > 0 ? 'quoted' : 'no_quotes'
      conclude({ quoteId, request, requestedAt, outcome, ranked: offers, ...roundResult })
      if (offers.length > 0) return { quoteId, offers }
      if (
        roundResult.results.some(({ outcome }) => outcome.kind === 'cancelled' && outcome.isQueued === true)
      )
        throw solversBusy(request.chainId, quoteId)
      throw new ServiceError('NO_QUOTES', 'No solver gave a valid quote in time.', { quoteId })
    },
  }
}
