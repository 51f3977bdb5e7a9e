import type { FieldViolation } from '../../packages/protocol/src/errors.js'
import {
  ADDRESS,
  AMOUNT,
  BYTES32,
  type IntegerRule,
  MAX_INTEGER,
  SIGNATURE,
  STATS_WINDOW,
  type TextRule,
  UNIX_MS,
  UUID,
} from '../../packages/protocol/src/field-rules.js'
import {
  DEFAULT_STATS_WINDOW,
  STATS_WINDOWS,
  type StatsWindow,
} from '../../packages/protocol/src/solvers/solver-statistics.js'
import { endpointUrlProblem } from '../../packages/protocol/src/values/endpoint-url.js'
import { type Address, type Hex, parseAddress, parseBytes32 } from '../../packages/protocol/src/values/hex.js'
import { AN_ORIGIN, parseOrigin } from '../../packages/protocol/src/values/origin.js'
import { isTextOf, parseAmount, parseUint256 } from '../../packages/protocol/src/values/text.js'

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
    return this.#expect(field, parseAddress(text), ADDRESS.mustBe) ?? NOTHING
  }

  bytes32(field: string, text: string): Hex {
    return this.#expect(field, parseBytes32(text), BYTES32.mustBe) ?? NOTHING
  }

  /** @returns the UUID in lower case */
  uuid(field: string, text: string): string {
    return this.text(field, text, UUID).toLowerCase()
  }

  signature(field: string, text: string): Hex {
    return this.text(field, text, SIGNATURE) as Hex
  }

  /** A text that satisfies a rule. */
  text(field: string, text: string, rule: TextRule): string {
    if (!isTextOf(rule, text)) this.addViolation(field, rule.mustBe)
    return text
  }

  /** An amount of 1 to 2^256-1 in decimal. */
  amount(field: string, text: string): bigint {
    return this.#expect(field, parseAmount(text), AMOUNT.mustBe) ?? 0n
  }

  /** An integer of 0 to 2^256-1 in decimal. */
  uint256(field: string, text: string): bigint {
    return this.#expect(field, parseUint256(text), 'must be a decimal integer of 0 to 2^256-1') ?? 0n
  }

  /** An integer within the limits of a rule. */
  integer(field: string, value: number | bigint, { minimum, maximum, mustBe }: IntegerRule): number {
    if (value < minimum || value > maximum) this.addViolation(field, mustBe)
    return Number(value)
  }

  /** One of a closed list of integers. @param note follows the list in the violation */
  oneOf(field: string, value: bigint, allowed: readonly number[], note = ''): number {
    if (value > MAX_INTEGER || !allowed.includes(Number(value)))
      this.addViolation(field, `must be ${allowed.join(' or ')}${note}`)
    return Number(value)
  }

  /** Unix time in milliseconds. Its distance from the clock is not checked here. */
  timestampMs(field: string, value: bigint): number {
    return this.integer(field, value, UNIX_MS)
  }

  /** One of the keys of `choices` that is not the zero value. */
  choice<T>(field: string, value: number, choices: Readonly<Record<number, T>>): T | undefined {
    return this.#expect(field, choices[value], `must be ${Object.values(choices).join(' or ')}`)
  }

  /** A window of statistics; the default without a text. */
  statsWindow(field: string, text: string | undefined): StatsWindow {
    if (text === undefined) return DEFAULT_STATS_WINDOW
    const window = STATS_WINDOWS.find((allowed) => allowed === text)
    return this.#expect(field, window, STATS_WINDOW.mustBe) ?? DEFAULT_STATS_WINDOW
  }

  endpointUrl(field: string, text: string): string {
    const problem = endpointUrlProblem(text)
    if (problem !== undefined) this.addViolation(field, problem)
    return text
  }

  /** An origin in the normal form of the WHATWG URL standard. */
  origin(field: string, text: string): string {
    if (parseOrigin(text) !== text) this.addViolation(field, `must be ${AN_ORIGIN}`)
    return text
  }

  #expect<T>(field: string, value: T | undefined, mustBe: string): T | undefined {
    if (value === undefined) this.addViolation(field, mustBe)
    return value
  }
}
