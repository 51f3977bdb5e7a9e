import type { Address, Hex } from 'viem'
import { ORDER_EVENT_TYPES } from '../../../protocol/src/orders/event.js'
import {
  addressProblem,
  bytes32Problem,
  chainIdProblem,
  check,
  choiceProblem,
  type Problem,
  textProblem,
} from '../calls/check-arguments.js'
import type { Messages, UnknownText } from '../calls/message-types.js'
import { checkParams, toQuery } from '../calls/request-path.js'
import type { OrderEvent } from './order-events.js'

/**
 * Selects events: of each list that is given, one value must match. A list that is left out lets all pass. All lists together
 * have at most 200 values.
 */
export interface EventFilter {
  /**
   * Cursor of the last event that you have processed: the events after it come first. New events only when left out. `earliest`
   * begins with the oldest event that the instance keeps. A cursor that the log does not have, as after a restored backup, is
   * CURSOR_UNKNOWN. Then leave it out, and read your orders after `connected`.
   */
  readonly after?: 'earliest' | UnknownText
  readonly chainIds?: readonly number[]
  readonly types?: readonly OrderEvent['type'][]
  readonly orderIds?: readonly Hex[]
  readonly users?: readonly Address[]
  readonly solvers?: readonly Address[]
}

/** The check of a list of the filter, all of whose values must be right. */
const listProblem =
  (problem: Problem): Problem =>
  (value) => {
    if (!Array.isArray(value)) return 'must be a list'
    if (value.length === 0) return 'must have a value; leave it out to let all pass'
    return value.map(problem).find((message) => message !== undefined)
  }

/** A list has its name in a request, but in the plural. */
type ListName = `${Exclude<keyof Messages['StreamEventsRequest'], 'after' | 'health'>}s`

const LISTS: Readonly<Record<Exclude<keyof EventFilter, 'after'> & ListName, Problem>> = {
  chainIds: listProblem(chainIdProblem),
  types: listProblem((value) => choiceProblem([...ORDER_EVENT_TYPES, 'Reverted'], value)),
  orderIds: listProblem(bytes32Problem),
  users: listProblem(addressProblem),
  solvers: listProblem(addressProblem),
}

/** The request's line and headers have room for 16 KiB at an aggregator. 200 order ids take 15,000 bytes. */
const MAX_VALUES = 200

/** Makes the query of a stream's request; empty without a filter. @throws AggregatorError INVALID_ARGUMENT, also for another key */
export function toFilterQuery(filter: EventFilter): string {
  checkParams(filter, { after: textProblem, ...LISTS })
  const { after, ...lists } = filter
  const isTooLong = Object.values(lists).flat().length > MAX_VALUES
  check({ filter: isTooLong ? `must have at most ${MAX_VALUES} values in all lists together` : undefined })
  return toQuery(filter)
}
