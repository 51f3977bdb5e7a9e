import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const NEEDS_A_CHAIN = [
  'test/service/**/*.test.ts',
  'test/devnet/**/*.test.ts',
  'test/documentation/**/*.test.ts',
]
/** Tests about time and memory, which other tests on the same two cores would blur. */
const NEEDS_QUIET = [
  'test/service/bad-solvers.test.ts',
  'test/service/bad-solvers-together.test.ts',
  'test/service/deadlines.test.ts',
  'test/service/hostile-requests.test.ts',
  'test/service/property-requests.test.ts',
  'test/service/slow-clients.test.ts',
  'test/service/slow-subscribers.test.ts',
  'test/service/solver-bench.test.ts',
  'test/service/solver-bench-terms.test.ts',
]

/** Most of these tests wait for processes and deadlines: two at once are fine on two cores. */
const WORKERS = { maxWorkers: Math.max(2, availableParallelism() - 1) }
const TIMEOUTS = { testTimeout: 30_000, hookTimeout: 60_000 }

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: NEEDS_A_CHAIN,
          isolate: false,
          sequence: { groupOrder: 0 },
          ...WORKERS,
        },
      },
      {
        test: {
          name: 'service',
          include: NEEDS_A_CHAIN,
          exclude: NEEDS_QUIET,
          sequence: { groupOrder: 0 },
          ...WORKERS,
          ...TIMEOUTS,
        },
      },
      {
        test: {
          name: 'quiet',
          include: NEEDS_QUIET,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          ...TIMEOUTS,
        },
      },
    ],
  },
})
