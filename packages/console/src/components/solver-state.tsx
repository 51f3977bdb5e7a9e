import {
  CircuitBreakerState,
  NotAskedReason,
  type SolverStats,
} from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { StateMark } from './state-mark.js'

type SolverStateProps = Pick<SolverStats, 'notAsked' | 'circuitBreaker'>

/** Whether a solver is asked for quotes, and why not. */
export function SolverState({ notAsked, circuitBreaker }: SolverStateProps) {
  switch (notAsked) {
    case NotAskedReason.NOT_REGISTERED:
      return <StateMark word="not registered" tone="neutral" />
    case NotAskedReason.BOND_TOO_SMALL:
      return <StateMark word="bond too small" tone="bad" title="It is not asked until it adds to its bond." />
    case NotAskedReason.NOT_CONNECTED:
      return <StateMark word="not connected" tone="bad" title="Its session has ended: it is not asked." />
    case NotAskedReason.BOND_UNKNOWN:
      return <StateMark word="bond not read" tone="waiting" title="The instance has not read its bond yet." />
    case NotAskedReason.CIRCUIT_OPEN:
      return <StateMark word="circuit open" tone="bad" title="It has cost callers time: no quote asks it." />
    case NotAskedReason.NOT_ANSWERING:
      return (
        <StateMark
          word="not answering"
          tone="bad"
          title="It leaves requests open that others have answered."
        />
      )
  }
  if (circuitBreaker === CircuitBreakerState.HALF_OPEN)
    return (
      <StateMark
        word="circuit half open"
        tone="waiting"
        title="It is asked without a wait, to see whether it answers again."
      />
    )
  return <StateMark word="active" tone="good" />
}
