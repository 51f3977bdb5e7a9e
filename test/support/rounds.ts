import { describe, it } from 'vitest'

const RUNS_ALL = process.env.TEST_ROUNDS === 'all'

/**
 * How many rounds a test of a file `*.long.test.ts` runs.
 * @param all for `npm run test:slow`
 * @param some for `npm test`, which ends within minutes
 */
export function rounds(all: number, some: number): number {
  return RUNS_ALL ? all : some
}

/** A test that waits for real time, in a file `*.long.test.ts`. Only `npm run test:slow` runs it. */
export const itSlow = it.runIf(RUNS_ALL)
export const describeSlow = describe.runIf(RUNS_ALL)
