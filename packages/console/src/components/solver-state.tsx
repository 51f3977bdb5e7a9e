import { CircuitBreakerState, type SolverStats } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { now } from '../data/clock.js'
import { formatDuration } from '../format/time.js'
import { StateMark } from './state-mark.js'

type State = Pick<SolverStats, 'name' | 'circuitBreaker' | 'coolDown'>

/** Whether a solver is asked for quotes, and why not. */
export function SolverState({ name, circuitBreaker, coolDown }: State) {
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
  return <StateMark word="active" tone="good" />
}
