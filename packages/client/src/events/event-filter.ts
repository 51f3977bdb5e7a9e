import type { Address, Hex } from 'viem'
import { ORDER_EVENT_TYPES } from '../../../protocol/src/orders/event.js'
import {
  addressProblem,
  bytes32Problem,
  chainIdProblem,
  check,
  choiceProblem,
  textProblem,
} from '../calls/check-arguments.js'
import type { Messages, UnknownText } from '../calls/message-types.js'
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

type Problem = (value: unknown) => string | undefined

/** Each list of a filter: its name in a request, and the check of a value. */
const LISTS: Readonly<
  Record<
    Exclude<keyof EventFilter, 'after'>,
    readonly [name: Exclude<keyof Messages['StreamEventsRequest'], 'after' | 'health'>, problem: Problem]
  >
> = {
  chainIds: ['chainId', chainIdProblem],
  types: ['type', (value) => choiceProblem([...ORDER_EVENT_TYPES, 'Reverted'], value)],
  orderIds: ['orderId', bytes32Problem],
  users: ['user', addressProblem],
  solvers: ['solver', addressProblem],
}

/** The request's line and headers have room for 16 KiB at an aggregator. 200 order ids take 15,000 bytes. */
const MAX_VALUES = 200

/** Makes the query of a stream's request with its `?`; empty without a filter. @throws AggregatorError INVALID_ARGUMENT */
export function toFilterQuery(filter: EventFilter): string {
  check(Object.fromEntries(Object.entries(filter).map(([key, value]) => [key, keyProblem(key, value)])))
  const query = new URLSearchParams(filter.after === undefined ? {} : { after: filter.after })
  for (const [key, [name]] of Object.entries(LISTS))
    for (const value of filter[key as keyof typeof LISTS] ?? []) query.append(name, String(value))
  checkLength(filter)
  return query.size === 0 ? '' : `?${query}`
}

function keyProblem(key: string, value: unknown): string | undefined {
  if (key !== 'after' && !Object.hasOwn(LISTS, key))
    return `is not a filter: the filters are after, ${Object.keys(LISTS).join(', ')}`
  if (value === undefined) return undefined
  if (key === 'after') return textProblem(value)
  if (!Array.isArray(value)) return 'must be a list'
  if (value.length === 0) return 'must have a value; leave it out to let all pass'
  const [, problem] = LISTS[key as keyof typeof LISTS]
  return value.map(problem).find((message) => message !== undefined)
}

function checkLength(filter: EventFilter): void {
  const lengths = Object.keys(LISTS).map(
    (key) => [key, filter[key as keyof typeof LISTS]?.length ?? 0] as const,
  )
  const [longest = 'filter'] = lengths.sort(([, a], [, b]) => b - a)[0] ?? []
  const total = lengths.reduce((sum, [, length]) => sum + length, 0)
  if (total > MAX_VALUES)
    check({ [longest]: `must have fewer values: all lists of a filter have at most ${MAX_VALUES} together` })
}
