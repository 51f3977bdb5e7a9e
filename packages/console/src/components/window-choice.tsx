import { hrefHere } from '../data/chains.js'
import type { PageName } from '../data/route.js'
import { type StatsWindow, WINDOWS } from '../data/solvers/stats.js'

interface WindowChoiceProps {
  readonly page: PageName
  readonly id?: string
  readonly window: StatsWindow
}

/** Chooses the window of the statistics, in the URL. */
export function WindowChoice({ page, id = '', window }: WindowChoiceProps) {
  return (
    <nav class="segments" aria-label="Window of the statistics">
      {WINDOWS.map((each) => (
        <a
          key={each}
          href={hrefHere(page, id, { window: each })}
          aria-current={each === window ? 'true' : undefined}
        >
          {each}
        </a>
      ))}
    </nav>
  )
}
