import type { Chain } from '../chain/chain.js'
import { ServiceError } from '../domain/errors.js'
import { rank } from '../domain/offer.js'
import type { QuoteRequest, SignedQuote } from '../domain/quote.js'
import { Peers } from '../solvers/peers.js'
import type { RecordBook } from '../solvers/record-book.js'
import type { Registry } from '../solvers/registry.js'
import type { Selection } from '../solvers/selection.js'
import type { SolverRecord } from '../solvers/solver-record.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { askText } from './ask-text.js'
import type { Asked, AskSolver, Call } from './call.js'
import type { SolverOutcome } from './outcome.js'

/** How long a caller waits, and whether it still does. */
export interface Patience {
  /** Whether the caller has gone away. */
  isGone(): boolean
  /**
   * Takes the one who wants to be told when the caller goes away.
   * @returns ends that
   */
  onGone(listener: () => void): () => void
  /** The caller's own limit in milliseconds from now; undefined leaves the instance's. */
  readonly timeoutMs: number | undefined
}

/** Collects quotes. */
export interface Aggregator {
  /**
   * Asks solvers in parallel, checks and ranks what they answer (decisions.md D4).
   * @returns the valid offers, best first; at least one
   * @throws ServiceError NO_QUOTES or CHAIN_UNAVAILABLE
   */
  quote(request: QuoteRequest, patience: Patience): Promise<SignedQuote[]>
}

interface AggregatorOptions {
  readonly registry: Pick<Registry, 'active'>
  readonly chains: ReadonlyMap<number, Pick<Chain, 'quoteHasher'>>
  readonly recordBook: Pick<RecordBook, 'of'>
  readonly selection: Selection
  readonly askSolver: AskSolver
  readonly quoteTimeoutMs: number
  readonly maxQuoteFanOut: number
  /** The clock of the solvers' records. */
  readonly clock: () => number
  readonly metrics: Metrics
  readonly log: Logger
}

/** What is kept of a caller's own limit for the answer's way back: this much, at most a fifth of the limit. */
const ANSWER_RESERVE_MS = 100

/** Builds the aggregator. */
export function createAggregator(options: AggregatorOptions): Aggregator {
  const { registry, chains, recordBook, selection, askSolver, quoteTimeoutMs, clock, metrics, log } = options

  function countOffers(chainId: number, offers: number): void {
    metrics.solverReplies.inc({ chain_id: chainId, outcome: 'quoted', reason: '' }, offers)
  }

  function noteLoss({ solver }: SolverRecord, outcome: Exclude<SolverOutcome, { kind: 'quoted' }>): void {
    const reason = outcome.kind === 'invalid' ? outcome.reason : ''
    metrics.solverReplies.inc({ chain_id: solver.chainId, outcome: outcome.kind, reason })
    log.info({ chainId: solver.chainId, solver: solver.address, outcome }, 'no offer from a solver')
  }

  /** Asks all of them; resolves with the offers when each has an outcome. */
  function collect(
    asked: Asked,
    records: readonly SolverRecord[],
    patience: Patience,
  ): Promise<SignedQuote[]> {
    return new Promise((resolve) => {
      const offers: SignedQuote[] = []
      const peers = new Peers(records.length)
      // The asking itself is the last to be done.
      let undone = records.length + 1
      const finishOne = () => {
        if (--undone === 0) end()
      }
      const calls: Call[] = records.map((record) =>
        askSolver(asked, record, peers, (outcome) => {
          if (outcome.kind === 'quoted') offers.push(outcome.offer)
          else noteLoss(record, outcome)
          finishOne()
        }),
      )
      const settleAll = (outcome: SolverOutcome) => {
        for (const call of calls) call.settle(outcome)
      }
      const onGone = () => settleAll({ kind: 'cancelled' })
      const stopListening = patience.onGone(onGone)
      const limitMs = Math.min(quoteTimeoutMs, callersLimit(patience.timeoutMs))
      const timer = setTimeout(() => settleAll({ kind: 'late' }), limitMs)
      const end = () => {
        clearTimeout(timer)
        stopListening()
        for (const call of calls) call.release()
        if (offers.length > 0) countOffers(asked.request.chainId, offers.length)
        resolve(offers)
      }
      if (patience.isGone()) onGone()
      finishOne()
    })
  }

  /** Asks a solver on the bench; nobody waits for what comes of it. */
  function probe(asked: Asked, record: SolverRecord): void {
    const timer = setTimeout(() => call.settle({ kind: 'late' }), quoteTimeoutMs)
    const call: Call = askSolver(asked, record, new Peers(1), (outcome) => {
      clearTimeout(timer)
      setImmediate(() => call.release())
      if (outcome.kind === 'quoted') countOffers(asked.request.chainId, 1)
      else noteLoss(record, outcome)
    })
  }

  return {
    async quote(request, patience) {
      const { chainId } = request
      const hasher = chains.get(chainId)?.quoteHasher()
      if (hasher === undefined)
        throw new ServiceError('CHAIN_NOT_SUPPORTED', `Chain ${chainId} is not supported.`)
      const asked = { request, hasher, body: Buffer.from(askText(request)) }
      const records = recordBook.of(chainId, registry.active(chainId))
      const { awaited, probed } = selection.pick(chainId, records, options.maxQuoteFanOut, clock())
      for (const record of probed) probe(asked, record)
      const offers = await collect(asked, awaited, patience)
      const outcome = patience.isGone() ? 'cancelled' : offers.length > 0 ? 'quoted' : 'no_quotes'
      metrics.quotes.inc({ chain_id: chainId, outcome })
      if (offers.length === 0) throw new ServiceError('NO_QUOTES', 'No solver gave a valid quote in time.')
      return rank(offers)
    },
  }
}

function callersLimit(timeoutMs: number | undefined): number {
  if (timeoutMs === undefined) return Number.POSITIVE_INFINITY
  return timeoutMs - Math.min(ANSWER_RESERVE_MS, timeoutMs / 5)
}
