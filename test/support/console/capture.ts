/**
 * Writes the pictures of the console in README.md and docs/console.md from a real run of the local network.
 * tsx test/support/console/capture.ts, then look at docs/console-swap.png and docs/console-market.png
 */
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createAggregatorClient } from '@quote-aggregator/client'
import { startNetwork } from '../../../packages/cli/src/devnet/network.js'
import { runScenario } from '../../../packages/cli/src/devnet/scenario.js'
import { runTraffic } from '../../../packages/cli/src/devnet/traffic.js'
import { startServiceInProcess } from '../../../src/operator/demo/service-in-process.js'
import { eventually } from '../eventually.js'
import { startBrowser } from './console.js'

const pictureOf = (place: string) =>
  fileURLToPath(new URL(`../../../docs/console-${place}.png`, import.meta.url))
/** Both pictures together. */
const MAX_BYTES = 300_000
const FILLED = 2
const TRADED = 45
const TRADED_MS = 300_000
const PAGE_WAIT = { timeout: 60_000 }

async function main(): Promise<void> {
  const browser = await startBrowser()
  const network = await startNetwork({
    environment: {
      DEFAULT_FILL_WINDOW: '12',
      LOG_LEVEL: 'silent',
      RATE_LIMIT_MAX: '0',
      RATE_LIMIT_QUOTE: '0',
    },
    onError: () => {},
    servicePort: 0,
    startService: startServiceInProcess,
  })
  await runScenario(network, () => {})
  void runTraffic(network, console.error)
  const { page, open } = await browser.openPage(network.serviceUrl, {
    viewport: { width: 1280, height: 760 },
    colorScheme: 'light',
  })
  // A market to look at, in which each solver has paid many orders.
  const client = createAggregatorClient({ baseUrl: network.serviceUrl })
  await eventually(
    () => client.listPairs(network.devnet.chainId),
    ([pair]) => (pair?.orders24h ?? 0) >= TRADED,
    TRADED_MS,
  )
  await open('')
  await page.getByText('3 of 3 answered').waitFor(PAGE_WAIT)
  await page.getByText('Best of 3 offers').waitFor(PAGE_WAIT)
  await page.screenshot({ path: pictureOf('swap') })
  await page.getByRole('link', { name: 'Market' }).click()
  const fills = page.locator('.tape tr.fresh', { hasText: 'settled' })
  await fills.nth(FILLED - 1).waitFor(PAGE_WAIT)
  await page.screenshot({ path: pictureOf('market') })
  const bytes = statSync(pictureOf('swap')).size + statSync(pictureOf('market')).size
  if (bytes > MAX_BYTES) throw new Error(`the pictures have ${bytes} bytes, more than ${MAX_BYTES}`)
  await browser.close()
  await network.close()
  // The traffic has no end of its own.
  process.exit(0)
}

await main()
