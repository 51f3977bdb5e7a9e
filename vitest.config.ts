import { defineConfig } from 'vitest/config'

const NEEDS_A_CHAIN = ['test/service/**/*.test.ts', 'test/devnet/**/*.test.ts', 'test/documentation/**/*.test.ts']

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: NEEDS_A_CHAIN } },
      {
        test: { name: 'service', include: NEEDS_A_CHAIN, testTimeout: 30_000, hookTimeout: 60_000 },
      },
    ],
  },
})
