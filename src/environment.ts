/** One mistake in the configuration: the variable, and what it must be. */
export interface ConfigIssue {
  readonly variable: string
  readonly message: string
}

/** All mistakes of a configuration at once; the service does not start with any (docs/decisions.md, D11). */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly issues: readonly ConfigIssue[]

  constructor(issues: readonly ConfigIssue[], options?: ErrorOptions) {
    super(issues.map(({ variable, message }) => `${variable} ${message}`).join('\n'), options)
    this.issues = issues
  }
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

interface Range {
  readonly min: number
  readonly max: number
}

/**
 * Reads variables one by one and collects every mistake on the way. A method that notes a mistake returns a value
 * that nobody may use: call `assertValid` before the configuration leaves the reader's hands. An empty variable
 * counts as not set.
 */
export class EnvironmentReader {
  readonly #environment: Environment
  readonly #defaults: Readonly<Record<string, string>>
  readonly #mistakes: ConfigIssue[] = []

  constructor(environment: Environment, defaults: Readonly<Record<string, string>>) {
    this.#environment = environment
    this.#defaults = defaults
  }

  /** Notes a mistake. */
  refuse(variable: string, message: string): void {
    this.#mistakes.push({ variable, message })
  }

  /** Whether any variable is set whose name fits. */
  hasAny(name: RegExp): boolean {
    return Object.keys(this.#environment).some(
      (variable) => name.test(variable) && this.optional(variable) !== undefined,
    )
  }

  /** The variable or its default; undefined when there is neither. */
  optional(variable: string): string | undefined {
    return this.#environment[variable]?.trim() || this.#defaults[variable]
  }

  /** The variable or its default; a mistake when there is neither. `mustBe` says what belongs there. */
  required(variable: string, mustBe: string): string {
    const value = this.optional(variable)
    if (value === undefined) this.refuse(variable, `is missing: it must be ${mustBe}`)
    return value ?? ''
  }

  /** An integer in decimal digits within `range`; undefined when there is neither a value nor a default. */
  optionalInteger(variable: string, { min, max }: Range): number | undefined {
    const text = this.optional(variable)
    if (text === undefined) return undefined
    const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    this.refuse(variable, `is "${text}": it must be an integer of ${min} to ${max}`)
    return min
  }

  /** An integer in decimal digits within `range`, for a variable that has a default. */
  integer(variable: string, range: Range): number {
    return this.optionalInteger(variable, range) ?? range.min
  }

  /** A part of a whole in decimal digits, 0 to 1. */
  share(variable: string): number {
    const text = this.optional(variable) ?? ''
    if (/^(0(\.[0-9]+)?|1(\.0+)?)$/.test(text)) return Number(text)
    this.refuse(variable, `is "${text}": it must be a number of 0 to 1, such as 0.1`)
    return 1
  }

  /** The comma-separated items of a variable, without blanks; none when it is not set. */
  list(variable: string): string[] {
    const items = (this.optional(variable) ?? '').split(',').map((item) => item.trim())
    return items.filter((item) => item !== '')
  }

  /** Items that each pass `check`; a mistake for each that does not. */
  checkedList(variable: string, check: (item: string) => boolean, mustBe: string): string[] {
    const items = this.list(variable)
    for (const item of items) {
      if (!check(item)) this.refuse(variable, `has "${item}": it must be ${mustBe}`)
    }
    return items
  }

  /** One of `allowed`. */
  oneOf<T extends string>(variable: string, allowed: readonly [T, ...T[]]): T {
    const text = this.optional(variable)
    const value = allowed.find((item) => item === text)
    if (value === undefined) this.refuse(variable, `is "${text}": it must be one of ${allowed.join(', ')}`)
    return value ?? allowed[0]
  }

  /**
   * @param hint what to add to what is said of a variable that is missing, if anything
   * @throws ConfigError when any mistake was noted
   */
  assertValid(hint: (variable: string) => string = () => ''): void {
    if (this.#mistakes.length === 0) return
    throw new ConfigError(
      this.#mistakes.map(({ variable, message }) => {
        return { variable, message: message.startsWith('is missing') ? message + hint(variable) : message }
      }),
    )
  }
}
