import { LRUCache } from 'lru-cache'
import type { AnswerResult, SessionAnswer, SessionResult } from '../session/session-messages.js'
import type { IncomingRequest } from '../session/wire-forms.js'
import type { SolverParts } from '../solver-parts.js'
import { type Quoting, toPublic } from './quoting.js'

const NOTHING = { request: undefined, inputAmount: undefined, outputAmount: undefined, decline: undefined }
/** Of so many requests at most it is kept what was answered: results come within seconds. */
const MAX_LATELY = 1_000

/** What counts each outcome. The kit counts its own declines. */
const COUNTERS = {
  QUOTED: 'offersValid',
  INVALID: 'offersDropped',
  LATE: 'offersDropped',
  SOFT_DEADLINE: 'offersDropped',
  FAILED: 'requestsFailed',
  CANCELLED: 'requestsCancelled',
  CIRCUIT_OPEN: 'requestsCircuitOpen',
} as const

/** Builds what answers the requests of a session, and tells the market maker what came of each, with what it was about. */
export function createOwnAnswers({ metrics, hooks }: SolverParts, quoting: Quoting) {
  /** By the id of the request. */
  const lately = new LRUCache<string, Omit<AnswerResult, keyof SessionResult>>({ max: MAX_LATELY })
  return {
    onResult(result: SessionResult): void {
      const counter = COUNTERS[result.outcome as keyof typeof COUNTERS]
      if (counter !== undefined) metrics[counter]++
      if (result.rank === 1) metrics.offersBest++
      hooks.onResult({ ...result, ...(lately.get(result.id) ?? NOTHING) })
      lately.delete(result.id)
    },
    async answer(request: IncomingRequest): Promise<SessionAnswer> {
      const known = { ...NOTHING, request: toPublic(request) }
      lately.set(request.id ?? '', known)
      const answered = await quoting(request, 'SESSION')
      if ('decline' in answered) Object.assign(known, answered)
      else {
        const { inputAmount, outputAmount } = answered.quote
        Object.assign(known, { inputAmount, outputAmount })
      }
      return answered
    },
  }
}
