const RUNS_ALL = process.env.TEST_ROUNDS === 'all'

/**
 * How many rounds a test of a file `*.long.test.ts` runs.
 * @param all for `npm run test:slow`
 * @param some for `npm test`, which ends within minutes
 */
export function rounds(all: number, some: number): number {
  return RUNS_ALL ? all : some
}
