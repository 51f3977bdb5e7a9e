import type { QuoteRequest } from '../domain/quote.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { Peers } from '../solvers/peers.js'
import type { Question, SolverClient, SolverReply } from '../solvers/solver-client.js'
import type { AskResult, SolverRecord } from '../solvers/solver-record.js'
import type { SolverTallies } from '../solvers/solver-tallies.js'
import type { Judge } from './judge.js'
import type { SolverOutcome } from './outcome.js'

/** One request, prepared once for all solvers. */
export interface Asked {
  readonly request: QuoteRequest
  readonly hasher: QuoteHasher
  readonly question: Question
}

/** One solver being asked. */
export interface Call {
  /** Gives it an outcome, unless it has one. */
  settle(outcome: SolverOutcome): void
  /** Ends what is still under way of it, such as the body of a refusal. */
  release(): void
}

/**
 * Asks one solver and judges what it answers.
 * @param onOutcome called once: what went wrong is an outcome too, so that it reaches nobody else. Takes the
 *   milliseconds from asking as well
 */
export type AskSolver = (
  asked: Asked,
  record: SolverRecord,
  peers: Peers,
  onOutcome: (outcome: SolverOutcome, tookMs: number) => void,
) => Call

/** A refusal of this status or above is the solver's trouble, and no answer to what it was asked. */
const SERVER_ERROR = 500

interface AskSolverOptions {
  readonly solverClient: Pick<SolverClient, 'ask'>
  readonly judge: Judge
  readonly tallies: Pick<SolverTallies, 'note'>
  /** The clock of the records. */
  readonly clock: () => number
}

/** Builds the way to ask a solver, which keeps its record. */
export function createAskSolver({ solverClient, judge, tallies, clock }: AskSolverOptions): AskSolver {
  return (asked, record, peers, onOutcome) => {
    const { solver } = record
    const askedAt = clock()
    const ask = record.ask(askedAt, peers)
    let isOpen = true

    function settle(outcome: SolverOutcome): void {
      if (!isOpen) return
      isOpen = false
      const now = clock()
      const result = toResult(outcome)
      if (result !== 'silent') peers.noteAnswer(now)
      ask.end(result, now)
      tallies.note(solver, outcome.kind, result === 'silent' ? undefined : (now - askedAt) / 1000)
      onOutcome(outcome, now - askedAt)
    }

    function onReply(reply: SolverReply): void {
      if (reply.kind === 'malformed') settle({ kind: 'invalid', reason: 'malformed' })
      else if (reply.kind !== 'replied') settle(reply)
      else judge({ ...asked, solver: solver.address, body: reply.body, onJudged: settle })
    }

    return { settle, release: solverClient.ask(solver, asked.question, onReply) }
  }
}

function toResult(outcome: SolverOutcome): AskResult {
  switch (outcome.kind) {
    case 'quoted':
      return 'valid'
    case 'refused':
      return outcome.status < SERVER_ERROR ? 'refused' : 'failed'
    case 'invalid':
    case 'failed':
      return 'failed'
    case 'late':
    case 'cancelled':
      return 'silent'
  }
}
