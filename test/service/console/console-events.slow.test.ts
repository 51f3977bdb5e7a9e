import { existsSync } from 'node:fs'
import { getAbiItem } from 'viem'
import { describe, expect, it, onTestFinished } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { setHidden } from '../../support/console/console.js'
import { look, PAGE_WAIT, steps, useConsole } from '../../support/console/swap-page.js'
import { eventually } from '../../support/eventually.js'
import { startCable } from '../../support/faults/cable.js'
import { CHROMIUM } from '../../support/packages/chromium.js'
import { readMetrics } from '../../support/service/metrics.js'

/** Numbers of open streams of events and of quotes at a service. */
async function openStreams(serviceUrl: string): Promise<string> {
  const { sum } = await readMetrics(serviceUrl)
  return ['aggregator_stream_clients', 'aggregator_quote_streams'].map((name) => sum(name, {})).join(' ')
}

describe.skipIf(!existsSync(CHROMIUM))(
  `events in the console (they come, wait and return) (needs ${CHROMIUM})`,
  { timeout: 90_000 },
  () => {
    const stage = useConsole()
    const streams = () => openStreams(stage.network.serviceUrl)

    it('rests while its tab is hidden, and then has the events of that time', async () => {
      const { page, open } = await stage.openPage()
      await open(stage.swapLink({ for: stage.network.user.address }))
      await page.getByText('3 of 3 answered').waitFor(PAGE_WAIT)
      await eventually(streams, (open) => open === '1 1')
      await setHidden(page, true)
      await eventually(streams, (open) => open === '0 0')
      const other = await stage.openPage({ account: stage.network.user.address })
      await stage.swap(other)
      await other.page.getByText('You received').waitFor(PAGE_WAIT)
      await other.page.context().close()
      await eventually(streams, (open) => open === '0 0')
      await setHidden(page, false)
      await eventually(streams, (open) => open === '1 1')
      await page.getByRole('link', { name: 'Market' }).click()
      const fresh = page.locator('.event-list-line.fresh .state')
      const words = () => fresh.allInnerTexts()
      expect(await eventually(words, ({ length }) => length > 1)).toEqual([
        expect.stringContaining('Settled'),
        expect.stringContaining('Deposited'),
      ])
      await eventually(streams, (open) => open === '1 0')
    })

    it('strikes an event through that a reorganisation has removed, and says why', async () => {
      const { network } = stage
      stage.pauseBestSolver()
      const { page, open } = await stage.openPage({ account: network.user.address })
      await stage.swap({ page, open })
      await steps(page).getByText('Waiting for the solver').waitFor(PAGE_WAIT)
      await page.getByRole('link', { name: 'Market' }).click()
      const first = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem').first()
      await first.getByText('deposited').waitFor(PAGE_WAIT)
      await stage.holdBlocks()
      const event = getAbiItem({ abi: settlementAbi, name: 'Deposited' })
      const [deposit] = (await stage.user().getLogs({ event, fromBlock: 0n })).slice(-1)
      const depth = 1n + (await stage.user().getBlockNumber()) - (deposit?.blockNumber ?? 0n)
      await stage.node().request({ method: 'anvil_reorg', params: [Number(depth), []] } as never)
      await first.getByText('a reorganisation took block').waitFor(PAGE_WAIT)
      expect(await first.evaluate((line) => line.className)).toContain('removed')
      await look(page, 'event-list-removed')
    })

    it('says that the connection is lost, and recovers with the events that it missed', async () => {
      const cable = await startCable(stage.network.serviceUrl)
      onTestFinished(() => cable.close())
      const { page, open } = await stage.openPage({ baseUrl: cable.url })
      await open('market')
      const lines = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
      await page.locator('.panel-head .state', { hasText: 'live' }).waitFor(PAGE_WAIT)
      await lines.first().waitFor(PAGE_WAIT)
      const before = await lines.count()
      cable.silence()
      // Nothing but an unanswered question shows that a quiet connection is lost.
      await page.getByText('Connection lost.').waitFor({ timeout: 45_000 })
      await look(page, 'connection-lost')
      const other = await stage.openPage({ account: stage.network.user.address })
      await stage.swap(other)
      await other.page.getByText('You received').waitFor(PAGE_WAIT)
      cable.restore()
      await page.getByText('Connection lost.').waitFor({ state: 'hidden', ...PAGE_WAIT })
      await eventually(
        () => lines.count(),
        (count) => count === before + 2,
      )
    })
  },
)
