import type { SolverStats } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { hrefHere } from '../data/chains.js'
import { formatShare, group } from '../format/amount.js'
import { ShareBar } from './charts/share-bar.js'
import { SolverLabel } from './id.js'
import { Skeleton } from './notice.js'

const SHOWN = 6

/** How much of what users deposited each solver has filled in the last day. */
export function FillRates({ stats }: { readonly stats: readonly SolverStats[] | undefined }) {
  const busiest = stats
    ?.toSorted((a, b) => Number(b.settled + b.refunded - a.settled - a.refunded))
    .slice(0, SHOWN)
  return (
    <section class="panel" aria-labelledby="fill-title">
      <div class="panel-head">
        <h2 id="fill-title">Fill rate, 24 h</h2>
        <a href={hrefHere('solvers')}>all solvers</a>
      </div>
      {busiest === undefined && <Skeleton lines={3} />}
      <ul class="fill-rates">
        {busiest?.map((solver) => (
          <li key={solver.solver}>
            <SolverLabel address={solver.solver} name={solver.name} />
            <ShareBar share={solver.fillRate} label="fill rate" />
            <span class="number right">{formatShare(solver.fillRate)}</span>
            <span class="number right muted">{group(String(solver.settled))} filled</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
