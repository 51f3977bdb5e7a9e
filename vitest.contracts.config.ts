import { defineConfig } from 'vitest/config'

/** The tests of the reference contract: `npm run test:contracts`. The suite is in vitest.config.ts. */
export default defineConfig({
  test: {
    include: ['src/devnet/contracts/test/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
