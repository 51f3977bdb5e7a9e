import type { SolverStats } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { REPLIES, whyNothingWon } from '../data/solvers/solver-replies.js'
import { formatShare, group } from '../format/amount.js'
import { Fact } from './facts.js'

/** What came of the requests to a solver, and why it has won nothing. */
export function Replies({ stats }: { readonly stats: SolverStats }) {
  const reason = whyNothingWon(stats)
  return (
    <div class="replies">
      <dl class="fact-row">
        {REPLIES.map(([count, name]) => (
          <Fact key={count} name={name}>
            {group(String(stats[count]))}
            {stats[count] > 0n && (
              <span class="muted"> · {formatShare(Number(stats[count]) / Number(stats.asked))}</span>
            )}
          </Fact>
        ))}
      </dl>
      {reason !== undefined && <p class="muted">{reason}</p>}
    </div>
  )
}
