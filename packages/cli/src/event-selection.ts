import type { EventFilter, OrderEvent } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { ORDER_EVENT_TYPES } from '../../protocol/src/orders/event.js'
import type { Address } from '../../protocol/src/values/hex.js'
import { readAddress, readChainId, readEach, readOneOf } from './arguments.js'
import type { InstanceFlags } from './called-instance.js'

/** The options of a command that follows events. */
export interface EventSelection extends InstanceFlags {
  readonly chain?: readonly number[]
  readonly type?: readonly OrderEvent['type'][]
  readonly user?: readonly Address[]
  readonly solver?: readonly Address[]
}

const TYPES = [...ORDER_EVENT_TYPES, 'Reverted'] as const

/** Adds the options that select events. */
export function selectsEvents(command: Command): Command {
  return command
    .option('--chain <id>', 'only of this chain; this and the others may be repeated', readEach(readChainId))
    .option('--type <type>', `only ${TYPES.join(', ')}`, readEach(readOneOf(TYPES)))
    .option('--user <address>', 'only of this user', readEach(readAddress))
    .option('--solver <address>', 'only of this solver', readEach(readAddress))
}

/** The filter that the options say. */
export function toEventFilter({ chain, type, user, solver }: EventSelection): EventFilter {
  return { chainIds: chain, types: type, users: user, solvers: solver }
}
