import type { DescEnum } from '@bufbuild/protobuf'
import { EventTypeSchema } from '../../gen/aggregator/v1/event_pb.js'

/**
 * The JSON names of an enum's values. They have no type prefix: `EXACT_INPUT` (docs/decisions.md, D3). Kinds of events have
 * the names of their messages: `Deposited` (docs/decisions.md, D9).
 */
export function jsonNames(descriptor: DescEnum): ReadonlyMap<number, string> {
  const prefix = descriptor.sharedPrefix?.toUpperCase() ?? ''
  const isEventType = descriptor.typeName === EventTypeSchema.typeName
  return new Map(
    descriptor.values.map(({ number, name }) => {
      const shortName = name.slice(prefix.length)
      return [number, isEventType ? shortName[0] + shortName.slice(1).toLowerCase() : shortName]
    }),
  )
}
