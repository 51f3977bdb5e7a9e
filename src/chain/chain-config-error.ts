import type { ConfigIssue } from '../config/environment.js'

/** The chain answers and does not match the configuration. */
export class ChainConfigError extends Error implements ConfigIssue {
  override readonly name = 'ChainConfigError'
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
