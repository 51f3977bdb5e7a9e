import type { Migration } from 'kysely'
import { solvers } from './migrations/001-solvers.js'
import { events } from './migrations/002-events.js'
import { solverBenches } from './migrations/003-solver-benches.js'
import { replicas } from './migrations/004-replicas.js'
import { solverBonds } from './migrations/005-solver-bonds.js'
import { eventFilters } from './migrations/006-event-filters.js'
import { solverPlaces } from './migrations/007-solver-places.js'
import { recordKey } from './migrations/008-record-key.js'
import { fieldTerms } from './migrations/009-field-terms.js'
import { orders } from './migrations/010-orders.js'
import { solverSessions } from './migrations/011-solver-sessions.js'
import { solverOrderHours } from './migrations/012-solver-order-hours.js'
import { solverHours } from './migrations/013-solver-hours.js'

/** The migrations by name, applied in the order of the names. A released migration is never changed. */
export const migrations: Record<string, Migration> = {
  '001-solvers': solvers,
  '002-events': events,
  '003-solver-benches': solverBenches,
  '004-replicas': replicas,
  '005-solver-bonds': solverBonds,
  '006-event-filters': eventFilters,
  '007-solver-places': solverPlaces,
  '008-record-key': recordKey,
  '009-field-terms': fieldTerms,
  '010-orders': orders,
  '011-solver-sessions': solverSessions,
  '012-solver-order-hours': solverOrderHours,
  '013-solver-hours': solverHours,
}
