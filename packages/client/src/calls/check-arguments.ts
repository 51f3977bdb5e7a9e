import type { FieldViolation } from '../../../protocol/src/errors.js'
import {
  ADDRESS,
  BYTES32,
  CHAIN_ID,
  type IntegerRule,
  MAX_UINT256,
  type TextRule,
} from '../../../protocol/src/field-rules.js'
import { parseAddress, parseBytes32 } from '../../../protocol/src/values/hex.js'
import { isIntegerOf, isTextOf } from '../../../protocol/src/values/text.js'
import { AggregatorError, invalidCall } from './aggregator-error.js'

/** What is wrong with each argument of a call; undefined for those that are in order. */
export type Checks = Readonly<Record<string, string | undefined>>

/** What is wrong with a value. */
export type Problem = (value: unknown) => string | undefined

/** The rule of an argument that may be left out: that of an integer or a text, or its values. */
export type OptionRule = IntegerRule | TextRule | readonly string[]

/** @throws AggregatorError INVALID_ARGUMENT with every bad field */
export function check(checks: Checks): void {
  const violations = Object.entries(checks).flatMap(([field, message]): FieldViolation[] =>
    message === undefined ? [] : [{ field, message }],
  )
  if (violations.length > 0) throw invalidCall(violations)
}

/** Makes an AggregatorError of what the arguments of a call provoke, like all failures of calls. */
export async function checked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (thrown) {
    if (thrown instanceof AggregatorError) throw thrown
    const said = thrown instanceof Error ? thrown.message : String(thrown)
    throw invalidCall([{ field: 'arguments', message: `cannot be sent: ${said}` }], thrown)
  }
}

/** Checks the options of a call or a stream. @throws AggregatorError INVALID_ARGUMENT */
export function checkOptions(options: unknown): void {
  check({ options: objectProblem(options) })
  check({ signal: signalProblem((options as { signal?: unknown }).signal) })
}

export function objectProblem(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? undefined : 'must be an object, or be left out'
}

/** An AbortSignal of another realm, as of a test's browser, is one as well. */
function signalProblem(value: unknown): string | undefined {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>
  const isRight =
    value === undefined || (typeof aborted === 'boolean' && typeof addEventListener === 'function')
  return isRight ? undefined : 'must be an AbortSignal, or be left out'
}

/** Undefined is a chain id of a wallet that is not connected yet, and not right. */
export function chainIdProblem(value: unknown): string | undefined {
  return isIntegerOf(CHAIN_ID, value) ? undefined : CHAIN_ID.mustBe
}

export function addressProblem(value: unknown): string | undefined {
  return parseAddress(value) === undefined ? ADDRESS.mustBe : undefined
}

export function bytes32Problem(value: unknown): string | undefined {
  return parseBytes32(value) === undefined ? BYTES32.mustBe : undefined
}

export function amountProblem(value: unknown): string | undefined {
  const isRight = typeof value === 'bigint' && value > 0n && value <= MAX_UINT256
  return isRight ? undefined : 'must be a bigint of 1 to 2^256-1'
}

export function textProblem(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? undefined : 'must be a text'
}

export function choiceProblem(choices: readonly string[], value: unknown): string | undefined {
  return choices.includes(value as string) ? undefined : `must be one of ${choices.join(', ')}`
}

/** Checks an argument that may be left out. */
export function optionProblem(rule: OptionRule, value: unknown): string | undefined {
  if (value === undefined) return undefined
  if ('length' in rule) return choiceProblem(rule, value)
  const isRight = 'pattern' in rule ? isTextOf(rule, value) : isIntegerOf(rule, value)
  return isRight ? undefined : rule.mustBe
}

export function durationProblem(value: unknown): string | undefined {
  return typeof value === 'number' && value > 0 ? undefined : 'must be a number of milliseconds above 0'
}
