import type { FieldViolation } from '../../../src/domain/errors.js'
import { parseAddress, parseBytes32 } from '../../../src/domain/hex.js'
import { invalidCall } from './errors.js'

/** What is wrong with each value that a caller gave; those that are in order are left out. */
export type Checks = Readonly<Record<string, string | undefined>>

/** @throws AggregatorError INVALID_ARGUMENT with every bad field */
export function check(checks: Checks): void {
  const violations = Object.entries(checks).flatMap(([field, message]): FieldViolation[] =>
    message === undefined ? [] : [{ field, message }],
  )
  if (violations.length > 0) throw invalidCall(violations)
}

/** What is wrong with a chain id; undefined is one of a wallet that is not connected yet. */
export function chainIdProblem(value: unknown): string | undefined {
  const isRight = Number.isSafeInteger(value) && (value as number) > 0
  return isRight ? undefined : 'must be an integer of 1 to 2^53-1'
}

export function addressProblem(value: unknown): string | undefined {
  return parseAddress(value) === undefined ? 'must be a 20-byte address in hex with 0x' : undefined
}

export function bytes32Problem(value: unknown): string | undefined {
  return parseBytes32(value) === undefined ? 'must be 32 bytes in hex with 0x' : undefined
}

export function amountProblem(value: unknown): string | undefined {
  return typeof value === 'bigint' ? undefined : "must be a bigint in the token's smallest unit"
}

export function textProblem(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? undefined : 'must be a text'
}

export function durationProblem(value: unknown): string | undefined {
  return typeof value === 'number' && value > 0 ? undefined : 'must be a number of milliseconds above 0'
}
