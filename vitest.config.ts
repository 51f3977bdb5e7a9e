import { availableParallelism } from 'node:os'
import { pathToFileURL } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BUILT } from './test/support/process/built.js'
import { OwnOrder } from './test/support/process/own-order.js'

/** Tests that start a chain and services. */
const SERVICES = ['test/service', 'test/devnet'].map((folder) => `${folder}/**/*.test.ts`)
/**
 * The name of a test file says what it needs, if it needs more than others: `chain-rpc.waiting.test.ts`.
 * Waiting files run among those that keep the cores busy, quiet files with few others, and files alone with none.
 * Files `*.slow.test.ts` run only in `npm run test:slow`. Files `*.long.test.ts` run some of their rounds in
 * `npm test`, and all of them in `npm run test:slow`.
 */
const named = (need: 'waiting' | 'quiet' | 'alone' | 'slow') => [
  `test/**/*.${need}.test.ts`,
  `test/**/*.${need}.long.test.ts`,
]
const WAITING = named('waiting')
const APART = [...named('quiet'), ...named('alone'), ...named('slow')]

const SLOW = ['test/**/*.slow.test.ts', 'test/**/*.long.test.ts']
const SLOW_ALONE = ['test/**/*.{alone,quiet}.{slow,long}.test.ts']
const ALL_ROUNDS = { env: { TEST_ROUNDS: 'all' } }

/** Long tests, of processes and browsers, keep two cores busy with two workers. */
const FEW_WORKERS = { maxWorkers: Math.max(2, availableParallelism() - 1) }
/** Tests wait now and then: two cores are busy with three workers, and leave room for tests that measure time. */
const QUIET_WORKERS = { maxWorkers: FEW_WORKERS.maxWorkers + 1 }
/** Two more, because about two of them have a waiting file at any time. */
const WORKERS = { maxWorkers: QUIET_WORKERS.maxWorkers + 2 }
/** A busy machine may take seconds for what usually takes milliseconds. */
const TIMEOUTS = { testTimeout: 30_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } }
const PREPARE = 'test/support/process/prepare-once.ts'
const SERVICE = {
  isolate: false,
  globalSetup: [PREPARE],
  setupFiles: ['test/support/process/end-processes.ts'],
  ...TIMEOUTS,
}

/** Threads run as they are built: from the sources, each start loads tsx. */
const STARTERS = ['/src/store/quote-record-file.ts', '/src/signing/recovery-helpers.ts']
const BUILT_THREADS = {
  name: 'built-threads',
  enforce: 'pre' as const,
  transform(code: string, id: string) {
    if (!STARTERS.some((starter) => id.endsWith(starter))) return
    return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(`${BUILT}/main.js`).href))
  },
}

export default defineConfig({
  plugins: [BUILT_THREADS],
  // The packages of this repository, as their sources.
  resolve: { tsconfigPaths: true },
  test: {
    sequence: { sequencer: OwnOrder },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [...SERVICES, ...WAITING, ...APART],
          globalSetup: [PREPARE],
          isolate: false,
          // After those of the services, without a pause.
          sequence: { groupOrder: 0 },
          ...TIMEOUTS,
          ...WORKERS,
        },
      },
      {
        extends: true,
        test: {
          name: 'service',
          include: [...SERVICES, ...WAITING],
          exclude: APART,
          sequence: { groupOrder: 0 },
          ...WORKERS,
          ...SERVICE,
        },
      },
      {
        extends: true,
        // About time, which busy ones on the same two cores would blur.
        test: {
          name: 'quiet',
          include: named('quiet'),
          sequence: { groupOrder: 1 },
          ...QUIET_WORKERS,
          ...SERVICE,
        },
      },
      {
        extends: true,
        // About memory, or busy and about time.
        test: {
          name: 'alone',
          include: named('alone'),
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          ...SERVICE,
        },
      },
      {
        extends: true,
        // For `npm run test:slow`: browsers, installed packages, many kills, long properties.
        test: {
          name: 'slow',
          include: SLOW,
          exclude: SLOW_ALONE,
          sequence: { groupOrder: 3 },
          ...ALL_ROUNDS,
          ...FEW_WORKERS,
          ...SERVICE,
        },
      },
      {
        extends: true,
        // Those of them that are about time or memory.
        test: {
          name: 'slow-alone',
          include: SLOW_ALONE,
          ...ALL_ROUNDS,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
          ...SERVICE,
        },
      },
    ],
  },
})
