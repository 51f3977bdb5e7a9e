import { parseUint256 } from '../domain/amount.js'
import { isDisplayName, NAME_MUST_BE } from '../domain/display-name.js'
import { endpointUrlProblem } from '../domain/endpoint-url.js'
import type { FieldViolation } from '../domain/errors.js'
import { type Address, type Hex, parseAddress, parseBytes32 } from '../domain/hex.js'

const SIGNATURE = /^0x[0-9a-fA-F]{130}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const NOTHING: Hex = '0x'

/**
 * Reads the fields of one request and records each bad one under its JSON name. What a method returns for a bad field is
 * meaningless: check `violations` before you use any value.
 */
export class Fields {
  readonly violations: FieldViolation[]

  /** @param malformed the fields that are already known to be bad; no other violation is added for them */
  constructor(malformed: readonly FieldViolation[]) {
    this.violations = [...malformed]
  }

  /** Records a bad field, unless it has a violation already. */
  addViolation(field: string, message: string): void {
    if (!this.violations.some((violation) => violation.field === field))
      this.violations.push({ field, message })
  }

  address(field: string, text: string): Address {
    return this.#expect(field, parseAddress(text), 'must be a 20-byte address in hex with 0x') ?? NOTHING
  }

  bytes32(field: string, text: string): Hex {
    return this.#expect(field, parseBytes32(text), 'must be 32 bytes in hex with 0x') ?? NOTHING
  }

  /** @returns the UUID in lower case */
  uuid(field: string, text: string): string {
    if (!UUID.test(text)) this.addViolation(field, 'must be a UUID')
    return text.toLowerCase()
  }

  signature(field: string, text: string): Hex {
    if (!SIGNATURE.test(text)) this.addViolation(field, 'must be 65 bytes in hex with 0x')
    return text as Hex
  }

  /** An amount of 1 to 2^256-1 in decimal. */
  amount(field: string, text: string): bigint {
    const mustBe = 'must be a decimal integer of 1 to 2^256-1 without sign, point, exponent or leading zeros'
    return this.#expect(field, parseUint256(text) || undefined, mustBe) ?? 0n
  }

  /** An integer of `min` to `max`. */
  integer(field: string, value: number | bigint, min: number, max: number): number {
    if (value < min || value > max) this.addViolation(field, `must be an integer of ${min} to ${max}`)
    return Number(value)
  }

  /** One of a closed list of integers. */
  oneOf(field: string, value: bigint, allowed: readonly number[]): number {
    if (value > Number.MAX_SAFE_INTEGER || !allowed.includes(Number(value)))
      this.addViolation(field, `must be ${allowed.join(' or ')}`)
    return Number(value)
  }

  /** Unix time in milliseconds. Its distance from the clock is not checked here. */
  timestampMs(field: string, value: bigint): number {
    if (value < 1n || value > Number.MAX_SAFE_INTEGER)
      this.addViolation(field, 'must be Unix time in milliseconds')
    return Number(value)
  }

  /** One of the keys of `choices` that is not the zero value. */
  choice<T>(field: string, value: number, choices: Readonly<Record<number, T>>): T | undefined {
    return this.#expect(field, choices[value], `must be ${Object.values(choices).join(' or ')}`)
  }

  displayName(field: string, text: string): string {
    if (!isDisplayName(text)) this.addViolation(field, NAME_MUST_BE)
    return text
  }

  endpointUrl(field: string, text: string): string {
    const problem = endpointUrlProblem(text)
    if (problem !== undefined) this.addViolation(field, problem)
    return text
  }

  #expect<T>(field: string, value: T | undefined, mustBe: string): T | undefined {
    if (value === undefined) this.addViolation(field, mustBe)
    return value
  }
}
