import type { DescEnum } from '@bufbuild/protobuf'

/** An enum value's name in JSON: without the type's prefix, `EXACT_INPUT` (decisions.md D3). */
export function jsonNames(descriptor: DescEnum): ReadonlyMap<number, string> {
  const prefix = descriptor.sharedPrefix?.toUpperCase() ?? ''
  return new Map(descriptor.values.map(({ number, name }) => [number, name.slice(prefix.length)]))
}
