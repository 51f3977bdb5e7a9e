import { MAX_PORT } from '../domain/field-rules.js'
import { AN_ORIGIN, parseOrigin } from '../domain/values/urls.js'
import type { DatabaseLocation } from './database-url.js'
import type { EnvironmentReader } from './environment.js'

/** How the other replicas of an instance ask this one. */
export interface ReplicaAccess {
  /** The origin by which they reach it. Its port is replaced when a free one is taken. */
  readonly url: string
  /** The port that it listens on; 0 takes a free one. */
  readonly port: number
}

/** Reads how the other replicas ask this one; undefined when they cannot. */
export function readReplicaAccess(
  env: EnvironmentReader,
  { databaseUrl }: DatabaseLocation,
): ReplicaAccess | undefined {
  const text = env.optional('REPLICA_URL')
  const port = env.optionalInteger('REPLICA_PORT', { min: 0, max: MAX_PORT })
  if (text === undefined && port === undefined) return undefined
  const url = text === undefined ? undefined : parseOrigin(text)
  if (text === undefined)
    env.refuse('REPLICA_URL', `is missing, and REPLICA_PORT is set: it must be ${AN_ORIGIN}`)
  else if (url === undefined) env.refuse('REPLICA_URL', `is "${text}": it must be ${AN_ORIGIN}`)
  if (port === undefined)
    env.refuse(
      'REPLICA_PORT',
      'is missing, and REPLICA_URL is set: it must be a port of its own, or 0 for a free one',
    )
  else if (port !== 0 && String(port) === env.optional('PORT'))
    env.refuse('REPLICA_PORT', `is ${port}, as PORT is: it must be a port of its own, or 0 for a free one`)
  if (databaseUrl === undefined)
    env.refuse('REPLICA_URL', 'is for replicas, which share a PostgreSQL: set DATABASE_URL too')
  return url === undefined || port === undefined ? undefined : { url, port }
}
