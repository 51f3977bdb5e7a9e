import type { Chain } from '../chain/chain.js'
import { chainNotSupported, ServiceError } from '../domain/errors.js'
import { rank } from '../domain/offer.js'
import type { QuoteRequest, SignedQuote } from '../domain/quote.js'
import type { SolverResult } from '../domain/solver-result.js'
import { QuoteRound } from '../solvers/quote-round.js'
import type { Selection } from '../solvers/selection.js'
import { createSolverRequest } from '../solvers/solver-client.js'
import type { SolverDirectory } from '../solvers/solver-directory.js'
import type { SolverHealthRegistry } from '../solvers/solver-health-registry.js'
import type { BufferedHistogram } from '../telemetry/buffered-histogram.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { ContractRules } from './contract-rules.js'
import type { Caller, FanOut } from './fan-out.js'
import type { QuoteIds } from './quote-ids.js'
import type { QuoteRecorder } from './quote-recorder.js'
import type { QuoteTrace } from './quote-trace.js'
import { requestBody } from './request-body.js'
import type { SolverAttempt } from './solver-attempt.js'

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
  readonly rules: Pick<ContractRules, 'canCheck'>
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

/** Builds the aggregator. A quote goes through its functions in their order: select, ask, rank, record. */
export function createAggregator(options: AggregatorOptions): Aggregator {
  const { directory, chains, healthRegistry, rules, selection, fanOut, quoteIds, recorder } = options
  const { clock, now, metrics, log } = options
  let busyWarnedAt = Number.NEGATIVE_INFINITY
  const recordStage = {
    prepare: options.stages.of('prepare'),
    solvers: options.stages.of('solvers'),
    rank: options.stages.of('rank'),
  }

  /** Chooses the solvers of a quote, and prepares their request. */
  function select(request: QuoteRequest, quoteId: string, caller: Caller) {
    const { chainId } = request
    const hasher = chains.get(chainId)?.quoteHasher()
    if (hasher === undefined) throw chainNotSupported([...chains.keys()])
    const healths = healthRegistry
      .of(chainId, directory.active(chainId))
      .filter(({ solver }) => rules.canCheck(solver))
    // Read the clock after the health: the trial of a solver at a new endpoint may begin at that moment.
    const startedAt = clock()
    const clientKey = () => options.clientKeyOf(caller.address)
    const round = new QuoteRound({ request, startedAt, limitMs: fanOut.limitMs(caller), clientKey })
    const picked = selection.pick(chainId, healths, options.maxQuoteFanOut, round, startedAt)
    const solvers = picked.awaited.concat(picked.probed).map(({ solver }) => solver.address)
    const ids = quoteIds.forSolvers(quoteId, solvers.length)
    const idOf = new Map(solvers.map((solver, index) => [solver, ids[index] ?? '']))
    const solverRequest = createSolverRequest(requestBody(request), idOf)
    return { ...picked, round, clientKey, solvers, fanOutRequest: { request, hasher, solverRequest } }
  }

  /** Asks the selected solvers. @returns the requests with their results, in the order of the results */
  async function ask(selected: ReturnType<typeof select>, signal: AbortSignal): Promise<SolverAttempt[]> {
    const { awaited, probed, busy, round, clientKey, fanOutRequest } = selected
    const { chainId } = fanOutRequest.request
    for (const health of probed)
      void fanOut.probe(fanOutRequest, health, clientKey).then((result) => countResults(chainId, [result]))
    if (awaited.length === 0 && busy > 0) {
      metrics.quotes.inc({ chain_id: chainId, outcome: 'busy' })
      throw solversBusy(chainId)
    }
    const collecting = fanOut.collect(fanOutRequest, awaited, round, signal)
    const askedAt = clock()
    recordStage.prepare((askedAt - round.startedAt) / 1000)
    const attempts = await collecting
    recordStage.solvers((clock() - askedAt) / 1000)
    return attempts
  }

  /** @returns the valid offers, best first */
  function rankOffers(results: readonly SolverResult[]): SignedQuote[] {
    const start = clock()
    const ranked = rank(results.flatMap((result) => (result.kind === 'quoted' ? [result.offer] : [])))
    recordStage.rank((clock() - start) / 1000)
    return ranked
  }

  function record(trace: QuoteTrace): void {
    const { quoteId, request, outcome, durationMs, attempts, circuitOpen } = trace
    metrics.quotes.inc({ chain_id: request.chainId, outcome })
    recorder.record(trace)
    if (outcome === 'quoted') options.onQuoted(request)
    if (outcome !== 'no_quotes') return
    const outcomes = attempts.map(({ solver, result, tookMs }) => {
      return { solver, outcome: result, tookMs: Math.round(tookMs) }
    })
    log.warn(
      { quoteId, chainId: request.chainId, durationMs, outcomes, circuitOpen },
      'no solver gave a valid quote',
    )
  }

  function countResults(chainId: number, results: readonly SolverResult[]): void {
    let offers = 0
    for (const result of results) {
      if (result.kind === 'quoted') offers++
      else {
        const reason = result.kind === 'invalid' ? result.reason : ''
        metrics.solverReplies.inc({ chain_id: chainId, outcome: result.kind, reason })
      }
    }
    if (offers > 0) metrics.solverReplies.inc({ chain_id: chainId, outcome: 'quoted', reason: '' }, offers)
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

  return {
    async quote(request, caller) {
      const { chainId } = request
      const quoteId = quoteIds.create()
      const requestedAt = now()
      const selected = select(request, quoteId, caller)
      const { solvers, awaited, round } = selected
      const attempts = await ask(selected, caller.signal)
      const durationMs = clock() - round.startedAt
      const results = attempts.map(({ result }) => result)
      countResults(chainId, results)
      const ranked = rankOffers(results)
      const outcome = caller.signal.aborted ? 'cancelled' : ranked.length > 0 ? 'quoted' : 'no_quotes'
      const circuitOpen = solvers.slice(awaited.length)
      record({ quoteId, request, requestedAt, durationMs, outcome, ranked, attempts, solvers, circuitOpen })
      if (ranked.length > 0) return { quoteId, offers: ranked }
      if (results.some(isQueued)) throw solversBusy(chainId, quoteId)
      throw new ServiceError('NO_QUOTES', 'No solver gave a valid quote in time.', { quoteId })
    },
  }
}

/** Whether a request ended while it waited for a connection. */
function isQueued(result: SolverResult): boolean {
  return result.kind === 'cancelled' && result.isQueued === true
}
