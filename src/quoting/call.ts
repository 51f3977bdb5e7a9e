import type { QuoteRequest } from '../domain/quote.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { Peers } from '../solvers/peers.js'
import type { SolverClient, SolverReply } from '../solvers/solver-client.js'
import type { AskResult, SolverRecord } from '../solvers/solver-record.js'
import { createJudge } from './judge.js'
import type { SolverOutcome } from './outcome.js'

/** One request, prepared once for all solvers. */
export interface Asked {
  readonly request: QuoteRequest
  readonly hasher: QuoteHasher
  /** What solvers are sent: JSON in UTF-8. */
  readonly body: Uint8Array
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
 * @param onOutcome called once: what went wrong is an outcome too, so that it reaches nobody else
 */
export type AskSolver = (
  asked: Asked,
  record: SolverRecord,
  peers: Peers,
  onOutcome: (outcome: SolverOutcome) => void,
) => Call

/** A refusal of this status or above is the solver's trouble, and no answer to what it was asked. */
const SERVER_ERROR = 500

/**
 * Builds the way to ask a solver, which keeps its record.
 * @param clock of the records
 */
export function createAskSolver(solverClient: Pick<SolverClient, 'ask'>, clock: () => number): AskSolver {
  const judge = createJudge()

  return (asked, record, peers, onOutcome) => {
    const { solver } = record
    const ask = record.ask(clock(), peers)
    let isOpen = true

    function settle(outcome: SolverOutcome): void {
      if (!isOpen) return
      isOpen = false
      const now = clock()
      const result = toResult(outcome)
      if (result !== 'silent') peers.noteAnswer(now)
      ask.end(result, now)
      onOutcome(outcome)
    }

    function onReply(reply: SolverReply): void {
      if (reply.kind === 'malformed') settle({ kind: 'invalid', reason: 'malformed' })
      else if (reply.kind !== 'replied') settle(reply)
      else judge({ ...asked, solver: solver.address, body: reply.body, onJudged: settle })
    }

    return { settle, release: solverClient.ask(solver, asked.body, onReply) }
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
