import type { DescEnum } from '@bufbuild/protobuf'
import { ChainStatusSchema } from '../../../gen/aggregator/v1/chain_health_pb.js'
import { EventTypeSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { VerifyModeSchema } from '../../../gen/aggregator/v1/quote_pb.js'

/** The letter cases of enums that differ from the proto's. */
const CASES: ReadonlyMap<string, (name: string) => string> = new Map([
  // Kinds of events have the names of their messages (docs/decisions.md, D9).
  [EventTypeSchema.typeName, (name) => name.charAt(0) + name.slice(1).toLowerCase()],
  // The status of a chain has the names of `/health` (docs/decisions.md, D11).
  [ChainStatusSchema.typeName, (name) => name.toLowerCase()],
  // Verify modes have the names of VERIFY_QUOTES (docs/decisions.md, D13).
  [VerifyModeSchema.typeName, (name) => name.toLowerCase()],
])

/** The JSON names of an enum's values. They have no type prefix: `EXACT_INPUT` (docs/decisions.md, D3). */
export function jsonNames(descriptor: DescEnum): ReadonlyMap<number, string> {
  const prefix = descriptor.sharedPrefix ?? ''
  const toCase = CASES.get(descriptor.typeName) ?? ((name) => name)
  return new Map(descriptor.values.map(({ number, name }) => [number, toCase(name.slice(prefix.length))]))
}
