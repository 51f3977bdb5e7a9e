import type { Logger } from '../telemetry/log.js'
import type { RoundSink } from './sinks.js'

/** Builds the sink that logs each round without an offer, with what came of its requests. */
export function logWithoutOffer(log: Logger): RoundSink {
  return (event) => {
    if (event.kind !== 'ended' || event.outcome !== 'no_quotes') return
    const { quoteId, request, durationMs, attempts, probed } = event
    const outcomes = attempts.map(({ solver, result, tookMs }) => {
      return { solver, outcome: result, tookMs: Math.round(tookMs) }
    })
    const level = request.kind === 'FIRM' ? 'warn' : 'debug'
    log[level](
      { quoteId, chainId: request.chainId, durationMs, outcomes, circuitOpen: probed },
      'no solver gave a valid quote',
    )
  }
}
