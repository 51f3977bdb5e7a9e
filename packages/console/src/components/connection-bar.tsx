import { connection } from '../data/events.js'
import { Age } from './time.js'

/** Shows that the connection is lost, and the age of the last update, until the connection is back. */
export function ConnectionBar() {
  const { state, aliveAt } = connection.value
  if (state !== 'lost') return null
  return (
    <div class="connection-bar" role="status">
      <strong>Connection lost.</strong> The console is reconnecting.{' '}
      {aliveAt === undefined ? 'No update has come yet' : 'Last update: '}
      {aliveAt && <Age ms={aliveAt} />}.
    </div>
  )
}
