import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { type EventFilter, ORDER_EVENT_TYPES } from '../../domain/orders/event.js'
import type { Schema } from '../schema.js'
import { reversionDetails } from './event-rows.js'

/** The SQL condition for a filter, with the same result as `matches` for an event. */
export function passes(filter: EventFilter) {
  const { chainIds, types, orderIds, users, solvers } = filter
  return ({ eb, and, or }: ExpressionBuilder<Schema, 'events'>): Expression<SqlBool> => {
    const reverted = ORDER_EVENT_TYPES.filter((type) => types.has(type)).map(reversionDetails)
    return and([
      ...(chainIds.size > 0 ? [eb('chain_id', 'in', [...chainIds])] : []),
      ...(types.size > 0 ? [or([eb('type', 'in', [...types]), ...reversions(eb, reverted)])] : []),
      ...(orderIds.size > 0 ? [eb('order_id', 'in', [...orderIds])] : []),
      ...(users.size > 0 ? [eb('user', 'in', [...users])] : []),
      ...(solvers.size > 0 ? [eb('solver', 'in', [...solvers])] : []),
    ])
  }
}

/** The condition for the reversions of events; none for an empty list. */
function reversions(eb: ExpressionBuilder<Schema, 'events'>, details: readonly string[]) {
  return details.length === 0 ? [] : [eb.and([eb('type', '=', 'Reverted'), eb('details', 'in', details)])]
}
