import { defineConfig } from 'vitest/config'
import { TEST_HANG_MS } from './test/support/hang.js'

/** The tests of the reference contract: `npm run test:contracts`. The suite is in vitest.config.ts. */
export default defineConfig({
  test: {
    include: ['packages/cli/test/contracts/*.test.ts'],
    testTimeout: TEST_HANG_MS,
    hookTimeout: TEST_HANG_MS,
  },
})
