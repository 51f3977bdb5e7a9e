import type { Kysely, Migration } from 'kysely'

/** Standings of solvers are in the memory of each process (docs/decisions.md, D30), so no circuit breaker is stored. */
export const noCircuitBreakers: Migration = {
  up: async (database: Kysely<unknown>) => database.schema.dropTable('solver_circuit_breakers').execute(),
}
