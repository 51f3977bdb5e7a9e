import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const NEEDS_A_CHAIN = [
  'test/service/**/*.test.ts',
  'test/devnet/**/*.test.ts',
  'test/documentation/**/*.test.ts',
]
/** Tests about time, which busy ones on the same two cores would blur; they wait for most of theirs. */
const NEEDS_QUIET = [
  'test/service/bad-solvers.test.ts',
  'test/service/bad-solvers-together.test.ts',
  'test/service/broken-connections.test.ts',
  'test/service/deadlines.test.ts',
  'test/service/slow-clients.test.ts',
  'test/service/solver-bench.test.ts',
  'test/service/solver-bench-terms.test.ts',
  'test/service/solver-busy.test.ts',
  'test/service/solver-fairness.test.ts',
]
/** Tests that wait for most of their time, and do not mind how long; and one that is long, and would be the last. */
const WAITS = [
  'test/devnet/demo.test.ts',
  'test/service/chain-health.test.ts',
  'test/service/chain-rpc.test.ts',
  'test/service/chain-rpc-sockets.test.ts',
  'test/service/client-package.test.ts',
  'test/service/endpoint-names.test.ts',
  'test/service/event-chaos.test.ts',
  'test/service/event-kill.test.ts',
  'test/service/free-bonds-unknown.test.ts',
  'test/service/grpc-health.test.ts',
  'test/service/lifecycle.test.ts',
  'test/service/nonce-strikes.test.ts',
  'test/service/replicas-frozen.test.ts',
  'test/solvers/name-resolution.test.ts',
  'test/store/postgres-offices.test.ts',
  'test/store/postgres-silence.test.ts',
]
/** Tests about memory, and busy ones about time. */
const NEEDS_ALL = [
  'test/service/hostile-requests.test.ts',
  'test/service/property-requests.test.ts',
  'test/service/slow-subscribers.test.ts',
]

/** Tests that start processes keep two cores busy with two workers. */
const WORKERS = { maxWorkers: Math.max(2, availableParallelism() - 1) }
/** Tests that wait for most of their time leave room for more. */
const MORE_WORKERS = { maxWorkers: 3 * WORKERS.maxWorkers }
const TIMEOUTS = { testTimeout: 30_000, hookTimeout: 60_000 }
const POSTGRES = 'test/postgres-once.ts'
const SERVICE = {
  isolate: false,
  globalSetup: ['test/build-once.ts', POSTGRES],
  setupFiles: ['test/service/end-processes.ts'],
  ...TIMEOUTS,
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...NEEDS_A_CHAIN, ...WAITS],
          globalSetup: [POSTGRES],
          isolate: false,
          sequence: { groupOrder: 4 },
          ...TIMEOUTS,
          maxWorkers: WORKERS.maxWorkers + 1,
        },
      },
      {
        test: {
          name: 'service',
          include: NEEDS_A_CHAIN,
          exclude: [...WAITS, ...NEEDS_QUIET, ...NEEDS_ALL],
          sequence: { groupOrder: 0 },
          ...WORKERS,
          ...SERVICE,
        },
      },
      {
        test: {
          name: 'waiting',
          include: WAITS,
          sequence: { groupOrder: 1 },
          ...MORE_WORKERS,
          ...SERVICE,
        },
      },
      {
        test: {
          name: 'quiet',
          include: NEEDS_QUIET,
          sequence: { groupOrder: 2 },
          maxWorkers: WORKERS.maxWorkers + 1,
          ...SERVICE,
        },
      },
      {
        test: {
          name: 'alone',
          include: NEEDS_ALL,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
          ...SERVICE,
        },
      },
    ],
  },
})
