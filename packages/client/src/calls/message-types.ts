import type { components } from '../../../../gen/json.js'

/** The messages of an instance as REST has them, by name. */
export type Messages = components['schemas']

/** A message that came from an instance: its fields have the names of the contract, and may be anything. */
export type Untrusted<Name extends keyof Messages> = { readonly [Field in keyof Messages[Name]]?: unknown }

/**
 * Any other text, next to the texts that this version of the client knows: a newer instance may have further reasons and enum
 * values. Give a `switch` a `default`.
 */
export type UnknownText = string & Record<never, never>
