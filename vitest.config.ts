import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { HANG_MS, TEST_HANG_MS } from './test/support/hang.js'

/**
 * `npm test` runs what no other work on the machine can make fail. The name of a file says when it is another one:
 * `*.slow.test.ts` run only in `npm run test:slow`, those that measure time or memory, `*.alone.slow.test.ts`, one after the
 * other. Files `*.long.test.ts` run some of their rounds in `npm test`, and all of them in `npm run test:slow`.
 */
const SLOW = ['test/**/*.slow.test.ts', 'test/**/*.long.test.ts', 'packages/*/test/**/*.slow.test.ts']
const ALONE = ['test/**/*.alone.slow.test.ts']
const NOT_FAST = ['test/**/*.slow.test.ts', 'packages/*/test/**/*.slow.test.ts']
/** Tests that start a chain and services. */
const SERVICES = ['test/service', 'packages/cli/test/devnet', 'packages/console/test/deposits'].map(
  (folder) => `${folder}/**/*.test.ts`,
)
/** Tests of the reference contract, which run by themselves: vitest.contracts.config.ts. */
const CONTRACTS = ['packages/cli/test/contracts/*.test.ts']
const ALL_ROUNDS = { env: { TEST_ROUNDS: 'all' } }

/** Tests wait now and then: two cores are busy with three workers. */
const WORKERS = { maxWorkers: availableParallelism() + 1 }
/** Long tests, of processes and browsers, keep two cores busy with two workers. */
const FEW_WORKERS = { maxWorkers: Math.max(2, availableParallelism() - 1) }

const SHARED = {
  globalSetup: ['test/support/process/prepare-once.ts'],
  setupFiles: ['test/support/process/end-processes.ts'],
  isolate: false,
  testTimeout: TEST_HANG_MS,
  hookTimeout: TEST_HANG_MS,
  expect: { poll: { timeout: HANG_MS } },
}

export default defineConfig({
  // The packages of this repository, as their sources, also for an example that is a project of its own.
  resolve: {
    tsconfigPaths: true,
    alias: { '@quote-aggregator/client': `${import.meta.dirname}/packages/client/src/index.ts` },
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [...SERVICES, ...CONTRACTS, ...NOT_FAST],
          ...SHARED,
          ...WORKERS,
        },
      },
      {
        extends: true,
        test: { name: 'service', include: SERVICES, exclude: NOT_FAST, ...SHARED, ...WORKERS },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: SLOW,
          exclude: ALONE,
          sequence: { groupOrder: 1 },
          ...ALL_ROUNDS,
          ...SHARED,
          ...FEW_WORKERS,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow-alone',
          include: ALONE,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          ...ALL_ROUNDS,
          ...SHARED,
        },
      },
    ],
  },
})
