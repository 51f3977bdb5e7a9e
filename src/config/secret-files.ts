import { readSmallFile } from './small-file.js'

/** The variables with secrets. Each may be in a file, which the variable with `_FILE` at its end names. */
const SECRETS = /^(DATABASE_URL|METRICS_AUTH|OTEL_EXPORTER_OTLP_ENDPOINT|RPC_URL_[0-9]+)$/
const MAX_BYTES = 64 * 1024

/** A mistake of a secret in a file, without its content and its path: some put the secret there. */
interface SecretMistake {
  readonly variable: string
  readonly message: string
}

/** Reads a secret from its file. @returns undefined for a variable that is no secret, or has no file */
export function readSecretFile(
  environment: Readonly<Record<string, string | undefined>>,
  name: string,
): string | SecretMistake | undefined {
  const variable = `${name}_FILE`
  const path = SECRETS.test(name) ? environment[variable]?.trim() : undefined
  if (!path) return undefined
  if (environment[name]?.trim()) return { variable, message: `is set, and ${name} too: set only one of them` }
  const file = readSmallFile(path, MAX_BYTES)
  if (typeof file === 'string') return { variable, message: `names a file, which ${file}` }
  return file.toString('utf8').trim() || { variable, message: 'names a file, which is empty' }
}
