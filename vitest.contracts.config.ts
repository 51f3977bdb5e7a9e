import { defineConfig } from 'vitest/config'
import { TEST_HANG_MS } from './test/support/hang.js'

/** The tests of the reference contract: `npm run test:contracts`. The suite is in vitest.config.ts. */
export default defineConfig({
  test: {
    include: ['src/devnet/contracts/test/*.test.ts'],
    testTimeout: TEST_HANG_MS,
    hookTimeout: TEST_HANG_MS,
  },
})
