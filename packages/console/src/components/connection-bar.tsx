import { now } from '../data/clock.js'
import { connection } from '../data/events.js'
import { formatAge } from '../format/time.js'

/** Says that the connection is lost, and how old the page is. It goes away by itself. */
export function ConnectionBar() {
  const { state, aliveAt } = connection.value
  if (state !== 'lost') return null
  const age =
    aliveAt === undefined
      ? 'no event has come yet'
      : `last event or answer ${formatAge(aliveAt, Math.max(now.value, aliveAt))}`
  return (
    <div class="connection-bar" role="status">
      <strong>Connection lost.</strong> Trying again by itself; {age}.
    </div>
  )
}
