import type { Chain } from '../chain/chain.js'
import { ServiceError } from '../domain/errors.js'
import { rank } from '../domain/offer.js'
import type { QuoteRequest, SignedQuote } from '../domain/quote.js'
import type { Solver } from '../domain/solver.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { Registry } from '../solvers/registry.js'
import type { Selection } from '../solvers/selection.js'
import type { SolverClient } from '../solvers/solver-client.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { askText } from './ask-text.js'
import { createJudge } from './judge.js'
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
  readonly selection: Selection
  readonly solverClient: Pick<SolverClient, 'ask'>
  readonly quoteTimeoutMs: number
  readonly maxQuoteFanOut: number
  readonly metrics: Metrics
  readonly log: Logger
}

/** What is kept of a caller's own limit for the answer's way back: this much, at most a fifth of the limit. */
const ANSWER_RESERVE_MS = 100

/** Builds the aggregator. */
export function createAggregator(options: AggregatorOptions): Aggregator {
  const { registry, chains, selection, solverClient, quoteTimeoutMs, maxQuoteFanOut, metrics, log } = options

  const judge = createJudge()

  function countQuoted(chainId: number, offers: number): void {
    metrics.solverReplies.inc({ chain_id: chainId, outcome: 'quoted', reason: '' }, offers)
  }

  function note(solver: Solver, outcome: SolverOutcome): void {
    const reason = outcome.kind === 'invalid' ? outcome.reason : ''
    metrics.solverReplies.inc({ chain_id: solver.chainId, outcome: outcome.kind, reason })
    log.info({ chainId: solver.chainId, solver: solver.address, outcome }, 'no offer from a solver')
  }

  /** Asks all of them; resolves when each has an outcome. */
  function collect(asked: Asked, solvers: readonly Solver[], patience: Patience): Promise<SignedQuote[]> {
    return new Promise((resolve) => {
      const offers: SignedQuote[] = []
      const open = new Set(solvers)
      const settle = (solver: Solver, outcome: SolverOutcome) => {
        if (!open.delete(solver)) return
        if (outcome.kind === 'quoted') offers.push(outcome.offer)
        else note(solver, outcome)
        if (open.size === 0) end()
      }
      const calls = solvers.map((solver) =>
        solverClient.ask(solver, asked.body, (reply) => {
          if (reply.kind === 'malformed') settle(solver, { kind: 'invalid', reason: 'malformed' })
          else if (reply.kind !== 'replied') settle(solver, reply)
          else
            judge({
              ...asked,
              solver: solver.address,
              body: reply.body,
              onJudged: (outcome) => settle(solver, outcome),
            })
        }),
      )
      const settleAll = (outcome: SolverOutcome) => {
        for (const solver of open) settle(solver, outcome)
      }
      const onGone = () => settleAll({ kind: 'cancelled' })
      const stopListening = patience.onGone(onGone)
      const timer = setTimeout(
        () => settleAll({ kind: 'late' }),
        Math.min(quoteTimeoutMs, callersLimit(patience.timeoutMs)),
      )
      const end = () => {
        clearTimeout(timer)
        stopListening()
        for (const endCall of calls) endCall()
        if (offers.length > 0) countQuoted(asked.request.chainId, offers.length)
        resolve(offers)
      }
      if (patience.isGone()) onGone()
      else if (open.size === 0) end()
    })
  }

  return {
    async quote(request, patience) {
      const { chainId } = request
      const hasher = chains.get(chainId)?.quoteHasher()
      if (hasher === undefined)
        throw new ServiceError('CHAIN_NOT_SUPPORTED', `Chain ${chainId} is not supported.`)
      const asked = { request, hasher, body: Buffer.from(askText(request)) }
      const solvers = selection.pick(chainId, registry.active(chainId), maxQuoteFanOut)
      const offers = await collect(asked, solvers, patience)
      const outcome = patience.isGone() ? 'cancelled' : offers.length > 0 ? 'quoted' : 'no_quotes'
      metrics.quotes.inc({ chain_id: chainId, outcome })
      if (offers.length === 0) throw new ServiceError('NO_QUOTES', 'No solver gave a valid quote in time.')
      return rank(offers)
    },
  }
}

/** One request, prepared once for all solvers. */
interface Asked {
  readonly request: QuoteRequest
  readonly hasher: QuoteHasher
  readonly body: Uint8Array
}

function callersLimit(timeoutMs: number | undefined): number {
  if (timeoutMs === undefined) return Number.POSITIVE_INFINITY
  return timeoutMs - Math.min(ANSWER_RESERVE_MS, timeoutMs / 5)
}
