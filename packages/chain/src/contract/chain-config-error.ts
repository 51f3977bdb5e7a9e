/** The chain answers and does not match the configuration. */
export class ChainConfigError extends Error {
  override readonly name = 'ChainConfigError'
  /** The variable of an instance that has the wrong value. */
  readonly variable: string

  constructor(variable: string, message: string) {
    super(message)
    this.variable = variable
  }
}

/** A configuration error with the variable to correct. */
export function describeConfigError({ variable, message }: ChainConfigError): string {
  return `${variable} ${message}`
}
