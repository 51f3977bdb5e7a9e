import { setMaxListeners } from 'node:events'
import type { Chain } from '../chain/chain.js'
import { ServiceError } from '../domain/errors.js'
import { checkOffer, rank } from '../domain/offer.js'
import type { QuoteRequest, SignedQuote } from '../domain/quote.js'
import type { Solver } from '../domain/solver.js'
import { checkSignature } from '../signing/recover.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { Registry } from '../solvers/registry.js'
import type { Selection } from '../solvers/selection.js'
import type { SolverClient } from '../solvers/solver-client.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { askText } from './ask-text.js'
import type { SolverOutcome } from './outcome.js'

/** How long a caller waits, and whether it still does. */
export interface Patience {
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal
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

  async function askSolver(asked: Asked, solver: Solver, signal: AbortSignal): Promise<SolverOutcome> {
    const reply = await solverClient.ask(solver, asked.text, signal)
    switch (reply.kind) {
      case 'replied':
        return judge(asked, solver, reply.body)
      case 'malformed':
        return { kind: 'invalid', reason: 'malformed' }
      case 'refused':
      case 'failed':
        return reply
    }
  }

  function note(solver: Solver, outcome: SolverOutcome): void {
    const reason = outcome.kind === 'invalid' ? outcome.reason : ''
    metrics.solverReplies.inc({ chain_id: solver.chainId, outcome: outcome.kind, reason })
    if (outcome.kind === 'quoted') return
    log.info({ chainId: solver.chainId, solver: solver.address, outcome }, 'no offer from a solver')
  }

  return {
    async quote(request, patience) {
      const { chainId } = request
      const hasher = chains.get(chainId)?.quoteHasher()
      if (hasher === undefined)
        throw new ServiceError('CHAIN_NOT_SUPPORTED', `Chain ${chainId} is not supported.`)
      const asked = { request, hasher, text: askText(request) }
      const solvers = selection.pick(chainId, registry.active(chainId), maxQuoteFanOut)

      const end = startEnd(Math.min(quoteTimeoutMs, callersLimit(patience.timeoutMs)), patience.signal)
      const offers: SignedQuote[] = []
      const asks = solvers.map(async (solver) => {
        const reply = await Promise.race([askSolver(asked, solver, end.signal), end.reached])
        if (reply.kind === 'quoted') offers.push(reply.offer)
        note(solver, reply)
      })
      await Promise.all(asks)
      end.clear()

      const outcome = patience.signal.aborted ? 'cancelled' : offers.length > 0 ? 'quoted' : 'no_quotes'
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
  readonly text: string
}

function judge({ request, hasher }: Asked, solver: Solver, reply: unknown): SolverOutcome {
  const offer = checkOffer(request, solver.address, reply)
  if (typeof offer === 'string') return { kind: 'invalid', reason: offer }
  const { quote, signature } = offer
  const { structHash, digest } = hasher.hash(quote)
  const signatureBytes = Buffer.from(signature.slice(2), 'hex')
  const problem = checkSignature(digest, signatureBytes, solver.address)
  if (problem !== undefined) return { kind: 'invalid', reason: problem }
  return { kind: 'quoted', offer: { quote, signature, ...hasher.identify(structHash, signatureBytes) } }
}

/** The one deadline and the one signal of a quote, for all its solvers. */
function startEnd(timeoutMs: number, caller: AbortSignal) {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  let reach: (outcome: SolverOutcome) => void
  const reached = new Promise<SolverOutcome>((resolve) => {
    reach = resolve
  })
  const end = (outcome: SolverOutcome) => () => {
    reach(outcome)
    controller.abort(outcome.kind)
  }
  const onTimeout = end({ kind: 'late' })
  const onCallerGone = end({ kind: 'cancelled' })
  const timer = setTimeout(onTimeout, timeoutMs)
  caller.addEventListener('abort', onCallerGone)
  if (caller.aborted) onCallerGone()

  return {
    signal: controller.signal,
    /** Resolves with the outcome of every solver that has not answered by then. */
    reached,
    /** Ends what is still under way, such as the body of a refusal. */
    clear() {
      clearTimeout(timer)
      caller.removeEventListener('abort', onCallerGone)
      controller.abort('answered')
    },
  }
}

function callersLimit(timeoutMs: number | undefined): number {
  if (timeoutMs === undefined) return Number.POSITIVE_INFINITY
  return timeoutMs - Math.min(ANSWER_RESERVE_MS, timeoutMs / 5)
}
