import type { Clock } from '../../../packages/protocol/src/clock.js'
import { chainNotSupported, type ServiceError } from '../../../packages/protocol/src/errors.js'
import { rank } from '../../../packages/protocol/src/quotes/offer.js'
import type { QuoteRequest, SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { VerifyMode } from '../../../packages/protocol/src/quotes/verification.js'
import type { ContractRules } from '../../../packages/protocol/src/signing/offer-validator.js'
import type { QuoteHasher } from '../../../packages/protocol/src/signing/typed-data.js'
import type { SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Chain } from '../../chain/chain.js'
import type { CoolDowns } from '../../solvers/conduct/cool-downs.js'
import { QuoteRound } from '../../solvers/conduct/round-verdicts.js'
import type { SolverHealth } from '../../solvers/conduct/solver-health.js'
import type { SolverHealthRegistry } from '../../solvers/conduct/solver-health-registry.js'
import type { UsedNonces } from '../../solvers/conduct/used-nonces.js'
import type { SolverDirectory } from '../../solvers/registry/solver-directory.js'
import { requestBody } from '../../solvers/transport/request-body.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { QuoteTrace } from '../records/quote-recorder.js'
import { callersLimit, type FanOut, type RoundCall, type SoftDeadline } from './fan-out.js'
import { type OfferVerifier, type RankedRound, verifyRound } from './offer-verifier.js'
import type { QuoteIds } from './quote-ids.js'
import type { RoundErrors } from './round-errors.js'
import { type RoundCounts, RoundProgress, type RoundReports } from './round-reports.js'
import type { SolverAttempt } from './solver-attempt.js'
import type { Selection } from './solver-selection.js'

/** Collects offers. */
export interface Aggregator {
  /** @throws ServiceError CHAIN_UNAVAILABLE until the chain has been read for the first time */
  assertReady(chainId: number): void
  /**
   * Asks solvers in parallel once, then checks and ranks their replies (docs/decisions.md, D4). With `verify`, the
   * settlement contract checks the offers as well (docs/decisions.md, D13).
   * @throws ServiceError CHAIN_UNAVAILABLE
   */
  runRound(request: QuoteRequest, caller: RoundCall, options?: RoundOptions): Promise<RoundResult>
}

/** Options of a round. */
export interface RoundOptions {
  readonly softDeadline?: SoftDeadline | undefined
  /** Which offers the settlement contract checks; `off` by default. */
  readonly verify?: VerifyMode
  /** Milliseconds from the request to the start of the round; 0 by default. */
  readonly waitedMs?: number
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

interface AggregatorOptions {
  readonly directory: Pick<SolverDirectory, 'reachable'>
  readonly chains: ReadonlyMap<number, Pick<Chain, 'quoteHasher'>>
  readonly healthRegistry: Pick<SolverHealthRegistry, 'of'>
  readonly rules: Pick<ContractRules, 'canCheck'>
  readonly coolDowns: Pick<CoolDowns, 'of'> | undefined
  readonly usedNonces: Pick<UsedNonces, 'recordOffer'>
  readonly selection: Selection
  readonly fanOut: FanOut
  readonly verifier: OfferVerifier
  readonly quoteIds: Pick<QuoteIds, 'create' | 'forSolvers'>
  readonly reports: Pick<RoundReports, 'onResults' | 'onProbe' | 'onEnd' | 'onUnstarted'>
  readonly roundErrors: RoundErrors
  readonly maxQuoteFanOut: number
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'stageSeconds'>
}

interface VerifyContext {
  readonly progress: RoundProgress
  readonly caller: RoundCall
  readonly waitedMs: number
}

const NOBODY_HEARS = () => {}

/** Builds the aggregator. A round goes through its functions in their order: select, ask, rank, verify, record. */
export function createAggregator(options: AggregatorOptions): Aggregator {
  const { directory, chains, healthRegistry, rules, selection, fanOut, quoteIds, reports } = options
  const { clock, roundErrors } = options
  const { stageSeconds } = options.metrics

  function hasherOf(chainId: number): QuoteHasher {
    const chain = chains.get(chainId)
    if (chain === undefined) throw chainNotSupported(chainId, [...chains.keys()])
    return chain.quoteHasher()
  }

  /** The solvers that are not in a cool-down; all of them when each is in one. */
  function withoutCoolDown(healths: readonly SolverHealth[]): readonly SolverHealth[] {
    const { coolDowns } = options
    if (coolDowns === undefined) return healths
    const others = healths.filter(({ solver }) => coolDowns.of(solver) === undefined)
    return others.length === 0 ? healths : others
  }

  /** Chooses the solvers of a round, and prepares their request. */
  function select(
    request: QuoteRequest,
    quoteId: string,
    caller: RoundCall,
    verify: VerifyMode,
    waitedMs: number,
  ) {
    const { chainId } = request
    const hasher = hasherOf(chainId)
    const reachable = healthRegistry.of(chainId, directory.reachable(chainId))
    const checkable = reachable.filter(({ solver }) => rules.canCheck(solver))
    const healths = withoutCoolDown(checkable)
    // Read the clock after the health: the trial of a solver at a new endpoint may begin at that moment.
    const startedAt = clock.monotonic()
    const limitMs = fanOut.limitMs(caller, verify) - waitedMs
    const round = new QuoteRound({ request, startedAt, limitMs, waitedMs, client: caller.client.network })
    const picked = selection.pick(chainId, healths, options.maxQuoteFanOut, round, startedAt)
    const solvers = picked.awaited.concat(picked.probed).map(({ solver }) => solver.address)
    const ids = quoteIds.forSolvers(quoteId, solvers.length)
    const idOf = new Map(solvers.map((solver, index) => [solver, ids[index] ?? '']))
    const body = Buffer.from(requestBody(request))
    const solverRequest = { request, body, quoteIds: idOf, traceparent: caller.traceparent }
    return { ...picked, round, solvers, fanOutRequest: { request, hasher, solverRequest } }
  }

  /** Asks the selected solvers. @returns the requests with their results, in the order of the results */
  async function ask(
    { awaited, probed, round, fanOutRequest }: ReturnType<typeof select>,
    progress: RoundProgress,
    { signal }: RoundCall,
    softDeadline: SoftDeadline | undefined,
  ): Promise<SolverAttempt[]> {
    for (const health of probed)
      void fanOut.probe(fanOutRequest, health, round.client).then(([attempt]) => {
        if (attempt === undefined) return
        reports.onProbe(fanOutRequest.request, attempt, fanOutRequest.solverRequest.quoteIds)
      })
    if (awaited.length === 0) return []
    const { chainId, kind } = fanOutRequest.request
    const onAttempt = (attempt: SolverAttempt) => {
      // Before the caller gets it: the events of its order may come at any time after that.
      if (attempt.result.kind === 'quoted' && kind === 'FIRM')
        options.usedNonces.recordOffer(chainId, attempt.result.offer)
      progress.add(attempt, clock.monotonic())
    }
    const collecting = fanOut.collect(fanOutRequest, awaited, round, { signal, softDeadline, onAttempt })
    const askedAt = clock.monotonic()
    stageSeconds.observe({ stage: 'prepare' }, (askedAt - round.startedAt) / 1000)
    const attempts = await collecting
    stageSeconds.observe({ stage: 'solvers' }, (clock.monotonic() - askedAt) / 1000)
    return attempts
  }

  /** @returns the valid offers, best first */
  function rankOffers(results: readonly SolverResult[]): SignedQuote[] {
    const start = clock.monotonic()
    const ranked = rank(results.flatMap((result) => (result.kind === 'quoted' ? [result.offer] : [])))
    stageSeconds.observe({ stage: 'rank' }, (clock.monotonic() - start) / 1000)
    return ranked
  }

  /** Has the settlement contract check the offers, in what is left of its time and of the caller's. */
  async function verifyOffers(
    ranked: RankedRound,
    mode: VerifyMode,
    { fanOutRequest, round, progress, caller, waitedMs }: ReturnType<typeof select> & VerifyContext,
  ): Promise<RankedRound> {
    if (mode === 'off' || ranked.ranked.length === 0) return ranked
    const { chainId } = fanOutRequest.request
    const timeoutMs = callersLimit(caller.timeoutMs) - waitedMs - (clock.monotonic() - round.startedAt)
    return verifyRound(ranked, options.verifier, {
      chainId,
      mode,
      timeoutMs,
      signal: caller.signal,
      progress,
    })
  }

  return {
    assertReady: hasherOf,
    async runRound(request, caller, roundOptions = {}) {
      const { softDeadline, verify = 'off', waitedMs = 0, onBest = NOBODY_HEARS } = roundOptions
      const { chainId } = request
      const quoteId = quoteIds.create()
      const requestedAt = clock.now()
      const selected = select(request, quoteId, caller, verify, waitedMs)
      const { solvers, awaited, busy, round } = selected
      const progress = new RoundProgress(awaited.length, (offer, counts) =>
        onBest({ quoteId, offer, counts }),
      )
      const { counts } = progress
      const asked = await ask(selected, progress, caller, softDeadline)
      if (awaited.length === 0 && busy > 0) {
        reports.onUnstarted(request, 'busy')
        return { quoteId, offers: [], counts, error: roundErrors.busy(chainId) }
      }
      const endedAt = clock.monotonic()
      const results = asked.map(({ result }) => result)
      reports.onResults(request, results)
      const answered = { ranked: rankOffers(results), attempts: asked }
      const { ranked, attempts } = await verifyOffers(answered, verify, {
        ...selected,
        progress,
        caller,
        waitedMs,
      })
      const trace: QuoteTrace = {
        quoteId,
        request,
        key: caller.client.apiKey?.label,
        requestedAt,
        durationMs: endedAt - round.startedAt,
        outcome: caller.signal.aborted ? 'cancelled' : ranked.length > 0 ? 'quoted' : 'no_quotes',
        ranked,
        attempts,
        solvers,
        circuitOpen: solvers.slice(awaited.length),
      }
      const idleMs = progress.bestAt === undefined ? undefined : endedAt - progress.bestAt
      reports.onEnd(trace, selected.fanOutRequest.solverRequest.quoteIds, idleMs)
      const error = ranked.length > 0 ? undefined : roundErrors.noOffer(chainId, quoteId, results)
      return { quoteId, offers: ranked, counts, error }
    },
  }
}
