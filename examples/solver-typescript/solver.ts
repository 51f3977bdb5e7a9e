/**
 * A solver that follows a price feed. It connects to an aggregator, quotes, fills, declines while its feed is old, and cancels its open
 * quotes when the price jumps. Its account has a bond on the contract.
 */
import { createSolver, decline, type OrderTerms, type SolverQuoteRequest } from '@quote-aggregator/solver'
import type { Address, Hex } from 'viem'

const { AGGREGATOR_URL, RPC_URL, PRIVATE_KEY, STATE_FILE, FEED_URL } = process.env
/** The chain, the settlement contract and the tokens of the demo. Name those of your chain. */
const CHAIN_ID = 31337
const SETTLEMENT = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const WETH = '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0'
const USDC = '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9'

/** What one WETH costs in dollars, and when the feed said so, Unix milliseconds. Without a feed, the price of the demo. */
let feed = { price: 2_500, time: Number.POSITIVE_INFINITY }
/** The feed is asked this often, and its answer is `{"price": 2500.25, "time": 1795267587305}`. */
const FEED_MS = 500
/** With an older price, nothing is quoted. */
const OLD_MS = 3_000
/** An open quote that has come to give its user this much is cancelled, also one of before a restart: each cancellation costs gas. */
const MAX_LOSS_BPS = 20

/** What is earned, in hundredths of a percent. */
const MARGIN_BPS = 1
/** How much the price moves in a year. */
const SIGMA = 0.6
const YEAR_SECONDS = 31_557_600
/** For how long a price binds where the request allows that. */
const BINDS_SECONDS = 60
/** WETH that was bought, less what was sold. Each one makes the next one this much cheaper to sell and dearer to buy. */
let position = 0
const SKEW_BPS = 0.5
const MAX_SKEW_BPS = 20
/**
 * Below this much worth of output, in dollars, nothing is quoted. Gas is free in the demo. On a real chain, set it to what a `settle` of
 * 433,000 gas costs, divided by the margin: at 1 gwei and an ether of 2,500 dollars, 10,800 dollars. A slash counts smallest units, so a bond
 * token of 6 decimals covers next to no WETH: the kit declines what pays it out.
 */
const LEAST_DOLLARS = 1

/** By token: how many of its smallest units are one token, and its price in millionths of a dollar. */
function termsOf(token: Address) {
  if (token === WETH) return { unit: 10n ** 18n, micros: BigInt(Math.round(feed.price * 1e6)) }
  return token === USDC ? { unit: 10n ** 6n, micros: 1_000_000n } : undefined
}

/**
 * A price is an option of its user until it expires: they deposit if the market has moved for them. It is worth 0.4 · sigma · √t. At a
 * deposit address anybody may still pay until the fill deadline.
 */
function optionBps({ depositDeadline, fillDeadline, minDepositDeadline, isForAddress }: SolverQuoteRequest) {
  const now = Date.now() / 1000
  const earliest = Math.max(minDepositDeadline ?? depositDeadline, now + BINDS_SECONDS)
  const until = isForAddress ? fillDeadline : Math.min(depositDeadline, earliest)
  return 10_000 * 0.4 * SIGMA * Math.sqrt(Math.max(0, until - now) / YEAR_SECONDS)
}

function quote(request: SolverQuoteRequest) {
  const { inputToken, outputToken, orderType, amount } = request
  const [input, output] = [termsOf(inputToken), termsOf(outputToken)]
  if (input === undefined || output === undefined) return decline('UNSUPPORTED_PAIR')
  if (Date.now() - feed.time > OLD_MS) return decline('PAUSED')
  const skew = Math.max(-MAX_SKEW_BPS, Math.min(MAX_SKEW_BPS, position * SKEW_BPS))
  const spreadBps = MARGIN_BPS + optionBps(request) + (inputToken === WETH ? skew : -skew)
  // The worth of both sides: the user gets less than its input is worth, by the spread, here in millionths.
  const give = input.micros * output.unit * BigInt(1_000_000 - Math.round(spreadBps * 100))
  const get = output.micros * input.unit * 1_000_000n
  const priced = orderType === 'EXACT_INPUT' ? (amount * give) / get : (amount * get + give - 1n) / give
  const paidOut = orderType === 'EXACT_INPUT' ? priced : amount
  const isEnough = paidOut * output.micros >= BigInt(LEAST_DOLLARS * 1e6) * output.unit
  return isEnough ? { amount: priced, expiresInSeconds: BINDS_SECONDS } : decline('AMOUNT_TOO_SMALL')
}

/** What each order adds to the position. It grows: keep it in a database. */
const trades = new Map<Hex, number>()

/** The last call for an order is what the chain has. Hedge the change of the position here. */
function trade(orderId: Hex, weth: number): void {
  position += weth - (trades.get(orderId) ?? 0)
  trades.set(orderId, weth)
}

const buy = ({ orderId, inputToken, inputAmount, outputAmount }: OrderTerms) =>
  trade(orderId, inputToken === WETH ? Number(inputAmount) / 1e18 : -Number(outputAmount) / 1e18)

const solver = createSolver({
  account: PRIVATE_KEY as Hex,
  name: 'From a feed',
  aggregatorUrl: AGGREGATOR_URL ?? 'http://localhost:3000',
  chains: {
    [CHAIN_ID]: {
      rpc: RPC_URL ?? 'http://localhost:8545',
      settlement: SETTLEMENT,
      tokens: [WETH, USDC],
    },
  },
  quote,
  // The demo leaves 12 s to fill an order. Leave this out on a real chain.
  minFillSeconds: 5,
  stateFile: STATE_FILE ?? 'solver.db',
  onSession(change) {
    // Another process has the session, or the instance takes this solver no more: a supervisor must see it.
    if (change.state === 'lost' && change.isFinal) endWhenNothingIsOwed()
  },
  // What the user pays is yours soon.
  onDeposit: buy,
  onFilled: buy,
  onDepositRemoved: ({ orderId }) => trade(orderId, 0),
  onMissed: ({ orderId }) => trade(orderId, 0),
  // Sessions, deposits, ended orders, errors, and why a request was declined.
  log: console,
})

/** Reads the feed, and cancels the open quotes that lose by its price. */
async function readFeed(url: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(OLD_MS) })
  const { price, time } = (await answer.json()) as Partial<typeof feed>
  const isTimed = typeof time === 'number' && time <= Date.now() + OLD_MS
  if (!isTimed || typeof price !== 'number' || !(price > 0))
    throw new Error('the feed has no price with its time')
  feed = { price, time }
  if (!solver.openQuotes().some(isLosing)) return
  // Nothing waits for it: the next price must come meanwhile.
  solver
    .cancelQuotes(CHAIN_ID, isLosing)
    .then((ended) => console.warn('the price has jumped:', feed.price, ended), console.error)
}

/** Whether a quote is worth more to its user than it costs, by more than a cancellation is worth. */
function isLosing({ inputToken, inputAmount, outputToken, outputAmount }: OrderTerms): boolean {
  const [input, output] = [termsOf(inputToken), termsOf(outputToken)]
  if (input === undefined || output === undefined) return false
  const gives = Number(outputAmount * output.micros) / Number(output.unit)
  const gets = Number(inputAmount * input.micros) / Number(input.unit)
  return gives > gets * (1 + MAX_LOSS_BPS / 10_000)
}

/** What fails leaves the price to grow old. */
async function followFeed(url: string): Promise<void> {
  await readFeed(url).catch((error) => console.warn('no price:', error.message))
  setTimeout(followFeed, FEED_MS, url).unref()
}

/** An instance can end a session at any time. What was signed must be paid or ended before the process. */
function endWhenNothingIsOwed(): void {
  const { openOrders, openQuotes } = solver.metrics()
  if (openOrders + openQuotes > 0) setTimeout(endWhenNothingIsOwed, 1_000)
  else void solver.close().finally(() => process.exit(1))
}

if (FEED_URL !== undefined) {
  feed.time = 0
  await followFeed(FEED_URL)
}
await solver.start().catch((error) => {
  console.error(error)
  endWhenNothingIsOwed()
})
process.once('SIGTERM', () => solver.close())
