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
  ['createAggregatorClient', 10_000],
  ['refundCall', 1_000],
  ['watchQuotes', 2_000],
  ['identifyOffers', 700],
  ['AggregatorError', 700],
])('%s alone costs at most %i bytes', async (names, most) => {
  expect(await costOf(names)).toBeLessThanOrEqual(most)
})

it('a name that is not imported costs nothing', async () => {
  const { bytes } = await sizeOf("import '@quote-aggregator/client'")
  expect(bytes).toBeLessThanOrEqual(20)
})

// What docs/client.md says: each beside what an app that uses it has as well.
it.each([
  ['verifyQuote', ['createAggregatorClient'], 3_000],
  ['sendDeposit', ['createAggregatorClient', 'verifyQuote'], 5_000],
  ['prepareRefund', ['createAggregatorClient', 'verifyQuote', 'sendDeposit'], 1_000],
  ['prepareRefund', ['createAggregatorClient'], 3_000],
  ['depositCalls', ['createAggregatorClient', 'verifyQuote'], 1_000],
  ['readToken', ['createAggregatorClient'], 2_000],
  ['explainForUser', ['createAggregatorClient'], 2_500],
  ['readSettlement', ['createAggregatorClient', 'verifyQuote'], 1_000],
])('%s adds to %j at most %i bytes', async (name, others, most) => {
  const added = (await costOf([...others, name].join())) - (await costOf(others.join()))
  expect(added).toBeLessThanOrEqual(most)
})

const costOf = async (names: string) =>
  (await sizeOf(`export { ${names} } from '@quote-aggregator/client'`)).bytes

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
