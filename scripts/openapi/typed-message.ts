import type { JsonSchema } from './constraints.js'

/** A message of a stream in JSON: one object with a `type` of its own. */
export interface TypedMessage {
  readonly type: string
  readonly description: string
  readonly payload: JsonSchema
}

/** The schema of a message with its `type`. The description is that of the message, so its payload has none. */
export function withType(type: string, schema: JsonSchema): JsonSchema {
  const { required, properties, description: _, ...rest } = schema
  const all = { type: { const: type }, ...(properties as object) }
  return { ...rest, type: 'object', required: ['type'].concat(required as string[]), properties: all }
}
