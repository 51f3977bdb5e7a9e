import { createServer } from 'node:http'
import { createAggregatorClient, type QuoteParams, type SignedQuote } from '@quote-aggregator/client'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../../test/support/eventually.js'
import { HANG_MS } from '../../../../test/support/hang.js'
import { listen } from '../../../../test/support/listen.js'
import { startProcess } from '../../../../test/support/process/process.js'
import { shared } from '../../../../test/support/shared.js'
import { createDevnetClient, send } from '../../src/devnet/deploy.js'
import { deposit, waitForState } from '../../src/devnet/user-steps.js'
import {
  exampleAccount as account,
  bundleExample,
  isOfExample,
  keyOf,
  offersFor,
  SHORTER,
  startNetworkFor,
} from './example-swaps.js'

const program = await bundleExample()
const network = await shared(startNetworkFor(account))
const aggregator = createAggregatorClient({ baseUrl: network.serviceUrl })

const startExample = (environment: Record<string, string> = {}) =>
  startProcess(process.execPath, [program], {
    AGGREGATOR_URL: network.serviceUrl,
    RPC_URL: network.devnet.rpcUrl,
    PRIVATE_KEY: keyOf(account),
    STATE_FILE: ':memory:',
    ...environment,
  })

/** The offer of the example. @throws Error when it makes none */
async function offered(changes?: Partial<QuoteParams>): Promise<SignedQuote> {
  const offer = (await offersFor(network, changes)).find(isOfExample)
  if (offer === undefined) throw new Error('the example makes no offer')
  return offer
}

const dollars = ({ quote }: SignedQuote) => Number(quote.outputAmount) / 1e6
const bindsFor = ({ quote }: SignedQuote) => quote.depositDeadline - Date.now() / 1000

it('the example offers at least 3 bp more where it may bind for a minute, wins by it, and fills both kinds of deposits', async () => {
  const solver = startExample()
  await solver.waitFor(/session open$/m)
  const whole = await offered()
  const short = await offered(SHORTER)
  expect(dollars(short) / dollars(whole) - 1).toBeGreaterThanOrEqual(0.0003)
  expect([bindsFor(whole), bindsFor(short)].map((seconds) => Math.round(seconds / 30))).toEqual([10, 2])
  expect((await offersFor(network, SHORTER)).map(isOfExample)).toEqual([true, false, false, false])

  const client = createDevnetClient(network.devnet, network.user)
  const taken = await offered(SHORTER)
  await deposit(client, network, taken)
  await waitForState(network, taken.orderId, 'SETTLED', () => {})
  const { depositAddress, quote, orderId } = await offered({ depositMode: 'ADDRESS' })
  await send(client, network.contracts.weth, 'transfer', [depositAddress, quote.inputAmount])
  await waitForState(network, orderId, 'SETTLED', () => {})
  await solver.waitFor(/(deposit\n.*order ended\n.*){2}/s)
  // Each event has one line.
  for (const event of ['session open', 'deposit', 'order ended'])
    expect(solver.output().split(event)).toHaveLength(event === 'session open' ? 2 : 3)

  // It has bought two WETH, and bids a hundredth of a percent less for the next.
  await eventually(
    async () => dollars(await offered(SHORTER)) / dollars(short) - 1,
    (change) => Math.abs(change + 0.0001) < 0.00002,
  )
  solver.signal('SIGTERM')
  expect(await solver.exited, solver.output()).toBe(0)
})

/** A price feed that the test moves. */
async function startFeed() {
  const feed = { price: 2_500, time: (): number | undefined => Date.now(), hangs: false, asked: 0 }
  const server = createServer((_request, response) => {
    feed.asked++
    if (!feed.hangs) response.end(JSON.stringify({ price: feed.price, time: feed.time() }))
  })
  const { url } = await listen(server)
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { feed, url }
}

it('the example declines while its feed hangs or repeats an old price, and cancels what loses by a jump', async () => {
  const { feed, url } = await startFeed()
  const solver = startExample({ FEED_URL: url })
  onTestFinished(() => void solver.signal('SIGKILL'))
  await solver.waitFor(/session open$/m)
  // Each look leaves an open quote, and few can be open at a time.
  const untilOffering = (isWanted: boolean) =>
    expect
      .poll(async () => (await offersFor(network, SHORTER)).some(isOfExample), {
        interval: 1_000,
        timeout: HANG_MS,
      })
      .toBe(isWanted)
  await untilOffering(true)

  feed.hangs = true
  await untilOffering(false)
  feed.hangs = false
  await untilOffering(true)
  const stalledAt = Date.now()
  feed.time = () => stalledAt
  await untilOffering(false)
  // Microseconds, and no time at all.
  for (const time of [stalledAt * 1_000, undefined]) {
    feed.time = () => time
    const { asked } = feed
    await expect.poll(() => feed.asked, { timeout: HANG_MS }).toBeGreaterThan(asked + 2)
    await untilOffering(false)
  }
  feed.time = () => Date.now()
  await untilOffering(true)

  // A small move cancels nothing, and is in the price.
  const open = await offered(SHORTER)
  feed.price = 2_497
  await expect
    .poll(async () => dollars(await offered(SHORTER)), { interval: 1_000, timeout: HANG_MS })
    .toBeLessThan(dollars(open) - 2)
  const stateOf = async ({ quote, signature }: SignedQuote) =>
    (await aggregator.checkOffer(network.devnet.chainId, { quote, signature })).state
  expect(await stateOf(open)).toBe('VALID')
  const moved = await offered(SHORTER)

  feed.price = 2_425
  await eventually(
    () => Promise.all([open, moved].map(stateOf)),
    (states) => states.join() === 'DEAD,DEAD',
  )
  expect(dollars(await offered(SHORTER))).toBeLessThan(2_425)
  await solver.waitFor(/the price has jumped: 2425 \[.*CANCELLED/s)
})

it('the example ends with an error when another process takes its session', async () => {
  const first = startExample()
  await first.waitFor(/session open$/m)
  const second = startExample()
  expect(await first.exited, first.output()).toBe(1)
  expect(first.output()).toMatch(/SESSION_REPLACED.*session lost\n/s)
  await second.waitFor(/session open$/m)
  second.signal('SIGTERM')
  expect(await second.exited, second.output()).toBe(0)
})
