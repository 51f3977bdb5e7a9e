import type { IntegerRule, TextRule } from '../../packages/protocol/src/field-rules.js'

/** The rule of a field, or keywords of JSON Schema for a value that only responses have. */
export interface Constraint extends Partial<TextRule>, Partial<IntegerRule> {
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
}

/** Constraints by message and field. */
export type Constraints = Readonly<Record<string, Readonly<Record<string, Constraint>>>>

/** JSON Schema has a name for the rule of these texts. */
export const UUID = { format: 'uuid' }
export const CURSOR = { minLength: 1 }
export const TEXT = { minLength: 1 }
/** A page token says nothing about itself, and it is empty on the last page. */
export const PAGE_TOKEN = {}
