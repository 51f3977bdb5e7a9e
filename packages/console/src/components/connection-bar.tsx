import { now } from '../data/clock.js'
import { connection } from '../data/events.js'
import { formatAge } from '../format/time.js'

/** Shows that the connection is lost, and the age of the last update, until the connection is back. */
export function ConnectionBar() {
  const { state, aliveAt } = connection.value
  if (state !== 'lost') return null
  const age =
    aliveAt === undefined
      ? 'No update has come yet.'
      : `Last update: ${formatAge(aliveAt, Math.max(now.value, aliveAt))}.`
  return (
    <div class="connection-bar" role="status">
      <strong>Connection lost.</strong> The console is reconnecting. {age}
    </div>
  )
}
