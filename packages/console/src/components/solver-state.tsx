import {
  CircuitBreakerState,
  NotAskedReason,
  type SolverStats,
} from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { now } from '../data/clock.js'
import { formatDuration } from '../format/time.js'
import { StateMark } from './state-mark.js'

type SolverStateProps = Pick<SolverStats, 'notAsked' | 'circuitBreaker' | 'coolDown'>

/** Whether a solver is asked for quotes, and why not. */
export function SolverState({ notAsked, circuitBreaker, coolDown }: SolverStateProps) {
  const rest = coolDown === undefined ? 0 : Number(coolDown.until) - now.value
  switch (notAsked) {
    case NotAskedReason.NOT_REGISTERED:
      return <StateMark word="not registered" tone="neutral" />
    case NotAskedReason.BOND_TOO_SMALL:
      return <StateMark word="bond too small" tone="bad" title="It is not asked until it adds to its bond." />
    case NotAskedReason.NOT_CONNECTED:
      return <StateMark word="not connected" tone="bad" title="Its session has ended: it is not asked." />
    case NotAskedReason.COOL_DOWN:
      return (
        <StateMark
          word={`cooling down ${formatDuration(Math.max(rest, 0))}`}
          tone="bad"
          title="Orders that it had offered were refunded: it is not asked."
        />
      )
    case NotAskedReason.CIRCUIT_OPEN:
      return (
        <StateMark word="circuit open" tone="bad" title="It has cost callers time: no quote waits for it." />
      )
  }
  if (circuitBreaker === CircuitBreakerState.HALF_OPEN)
    return (
      <StateMark
        word="circuit half open"
        tone="waiting"
        title="The next requests decide whether quotes wait for it again."
      />
    )
  return <StateMark word="active" tone="good" />
}
