import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The size that a statement adds to an app, in bytes after gzip: bundled and minified, without viem, which the app has. */
async function sizeOf(contents: string): Promise<{ bytes: number; sources: string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: ROOT },
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    format: 'esm',
    external: ['viem', 'viem/*'],
    logLevel: 'silent',
    write: false,
    metafile: true,
  })
  const [{ inputs = {} } = {}] = Object.values(metafile.outputs)
  return { bytes: gzipSync(outputFiles[0]?.contents ?? '').length, sources: Object.keys(inputs) }
}

it.each([
  ["export { createAggregatorClient } from '@quote-aggregator/client'", 10_000],
  ["export { verifyQuote } from '@quote-aggregator/client'", 3_000],
  ["export { depositCalls } from '@quote-aggregator/client'", 1_500],
  ["export { sendDeposit } from '@quote-aggregator/client'", 5_200],
  ["export { refundCall, isRefundable } from '@quote-aggregator/client'", 1_000],
  ["export { explainForUser } from '@quote-aggregator/client'", 2_500],
  ["export { watchQuotes } from '@quote-aggregator/client'", 2_000],
  ["export { identifyOffers } from '@quote-aggregator/client'", 700],
  ["export { AggregatorError } from '@quote-aggregator/client'", 700],
  ["import '@quote-aggregator/client'", 20],
])('%s costs at most %i bytes', async (statement, most) => {
  const { bytes } = await sizeOf(statement)
  expect(bytes).toBeLessThanOrEqual(most)
})

it('the client contains no code of what is exported beside it, and no package but viem', async () => {
  const { sources } = await sizeOf("export { createAggregatorClient } from '@quote-aggregator/client'")
  expect(sources).toContain('packages/client/src/client.ts')
  expect(
    sources.filter((path) =>
      /verify-quote|offer-(state|identity)|settlement|deposit|refund|explain|watch-quotes|node_modules/.test(
        path,
      ),
    ),
  ).toEqual([])
})
