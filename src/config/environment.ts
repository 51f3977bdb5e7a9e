import { parseDigits } from '../../packages/protocol/src/values/text.js'
import { readSecretFile } from './secret-files.js'

/** One mistake in the configuration: the variable, and the value that it must have. */
export interface ConfigIssue {
  readonly variable: string
  readonly message: string
}

/** All mistakes of a configuration together. The service does not start with any mistake (docs/decisions.md, D11). */
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
 * Reads variables and collects every mistake. A method that records a mistake returns a placeholder. Call `assertValid`
 * before you use the configuration. An empty variable counts as not set.
 */
export class EnvironmentReader {
  readonly #environment: Environment
  readonly #defaults: Readonly<Record<string, string>>
  readonly #mistakes: ConfigIssue[] = []
  /** What is left out, and does not stop the start. */
  readonly warnings: ConfigIssue[] = []
  /** What was read from files, so that each is read once. */
  readonly #secrets = new Map<string, string | undefined>()

  constructor(environment: Environment, defaults: Readonly<Record<string, string>>) {
    this.#environment = environment
    this.#defaults = defaults
  }

  /** Records a mistake. */
  refuse(variable: string, message: string): void {
    this.#mistakes.push({ variable, message })
  }

  warn(variable: string, message: string): void {
    this.warnings.push({ variable, message })
  }

  /** Whether any variable with a matching name is set. */
  hasAny(name: RegExp): boolean {
    return Object.keys(this.#environment).some(
      (variable) => name.test(variable) && this.optional(variable) !== undefined,
    )
  }

  /** Returns the variable, the content of its file if it is a secret, or its default; undefined without any. */
  optional(variable: string): string | undefined {
    return this.#secretOf(variable) ?? (this.#environment[variable]?.trim() || this.#defaults[variable])
  }

  #secretOf(variable: string): string | undefined {
    if (this.#secrets.has(variable)) return this.#secrets.get(variable)
    const secret = readSecretFile(this.#environment, variable)
    if (typeof secret === 'object') this.refuse(secret.variable, secret.message)
    const value = typeof secret === 'object' ? undefined : secret
    this.#secrets.set(variable, value)
    return value
  }

  /** Returns the variable or its default. Without either, it records a mistake that names `mustBe`. */
  required(variable: string, mustBe: string): string {
    const value = this.optional(variable)
    if (value === undefined) this.refuse(variable, `is missing: it must be ${mustBe}`)
    return value ?? ''
  }

  /** An integer in decimal digits within `range`; undefined when there is neither a value nor a default. */
  optionalInteger(variable: string, { min, max }: Range): number | undefined {
    const text = this.optional(variable)
    if (text === undefined) return undefined
    const value = parseDigits(text)
    if (value >= min && value <= max) return value
    this.refuse(variable, `is "${text}": it must be an integer of ${min} to ${max}`)
    return min
  }

  /** An integer in decimal digits within `range`, for a variable that has a default. */
  integer(variable: string, range: Range): number {
    return this.optionalInteger(variable, range) ?? range.min
  }

  /** A number of 0 to 1 in decimal digits. */
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

  /** Returns the items of a list, and records a mistake for each item that does not pass `check`. */
  checkedList(variable: string, check: (item: string) => boolean, mustBe: string): string[] {
    const items = this.list(variable)
    for (const item of items) {
      if (!check(item)) this.refuse(variable, `has "${item}": it must be ${mustBe}`)
    }
    return items
  }

  /** Returns a value that must be one of `allowed`. */
  oneOf<T extends string>(variable: string, allowed: readonly [T, ...T[]]): T {
    const text = this.optional(variable)
    const value = allowed.find((item) => item === text)
    if (value === undefined) this.refuse(variable, `is "${text}": it must be one of ${allowed.join(', ')}`)
    return value ?? allowed[0]
  }

  /** @throws ConfigError when any mistake was recorded */
  assertValid(): void {
    if (this.#mistakes.length > 0) throw new ConfigError(this.#mistakes)
  }
}

/** What a server was to listen on. */
interface ListenAddress {
  readonly host: string
  readonly port: number
  /** The variable of the port. */
  readonly variable: 'PORT' | 'REPLICA_PORT'
}

/** Turns an error of opening a port into one of its variable or HOST; any other error stays as it is. */
export function toListenIssue(error: unknown, address: ListenAddress): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return error
  return new ConfigError([listenIssue(code, address)], { cause: error })
}

function listenIssue(code: string | undefined, { host, port, variable }: ListenAddress): ConfigIssue {
  if (code === 'EADDRINUSE')
    return {
      variable,
      message: `is ${port}, which is in use: set another one, or end the program that has it`,
    }
  if (code === 'EACCES') return { variable, message: `is ${port}, which needs privileges` }
  const isForeign = code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL'
  const fault = isForeign ? 'is not an address of this machine' : `cannot be listened on (${code})`
  const mustBe = 'it must be an address of this machine, or 0.0.0.0 for all of them'
  return { variable: 'HOST', message: `is "${host}", which ${fault}: ${mustBe}` }
}
