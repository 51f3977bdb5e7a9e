import { CircuitBreakerState, type SolverStats } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { now } from '../data/clock.js'
import { formatDuration } from '../format/time.js'
import { StateMark } from './state-mark.js'

interface SolverStateProps extends Pick<SolverStats, 'name' | 'circuitBreaker' | 'coolDown'> {
  /** Whether the instance lists it; undefined while the list is not known. */
  readonly isActive: boolean | undefined
}

/** Whether a solver is asked for quotes, and why not. */
export function SolverState({ name, circuitBreaker, coolDown, isActive }: SolverStateProps) {
  if (name === '') return <StateMark word="not registered" tone="neutral" />
  const rest = coolDown === undefined ? 0 : Number(coolDown.until) - now.value
  if (rest > 0)
    return (
      <StateMark
        word={`cooling down ${formatDuration(rest)}`}
        tone="bad"
        title="Orders that it had offered were refunded: it is not asked."
      />
    )
  if (circuitBreaker === CircuitBreakerState.OPEN)
    return (
      <StateMark word="circuit open" tone="bad" title="It has cost callers time: no quote waits for it." />
    )
  if (circuitBreaker === CircuitBreakerState.HALF_OPEN)
    return (
      <StateMark
        word="circuit half open"
        tone="waiting"
        title="The next requests decide whether quotes wait for it again."
      />
    )
  if (isActive === false)
    return (
      <StateMark
        word="inactive"
        tone="bad"
        title="Its bond is too small, or its session has ended: it is not asked."
      />
    )
  return <StateMark word="active" tone="good" />
}
