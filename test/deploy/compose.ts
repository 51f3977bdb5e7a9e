import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** A service of a compose file, with the fields that these tests read. */
export interface ComposeService {
  readonly image: string
  readonly build?: { readonly context: string }
  readonly user?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: unknown
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly stop_grace_period?: string
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, unknown>>
}

/** Reads files of deploy/ that are used together: later files add to the first. */
export function readCompose(...files: readonly string[]): Compose {
  const parsed = files.map((file) => parse(readFileSync(join('deploy', file), 'utf8'), { merge: true }))
  return parsed.reduce(merged) as Compose
}

/**
 * Merges as the compose specification says: mappings are merged, lists are appended, and of other values the
 * later one counts.
 */
function merged(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other]
  if (!isMapping(one) || !isMapping(other)) return other
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries(
    [...keys].map((key) => [
      key,
      key in one && key in other ? merged(one[key], other[key]) : (other[key] ?? one[key]),
    ]),
  )
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
