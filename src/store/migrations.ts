import type { Migration } from 'kysely'
import { initial } from './migrations/001-initial.js'

/** The migrations by name, applied in the order of the names. A released migration is never changed. */
export const migrations: Record<string, Migration> = {
  '001-initial': initial,
}
