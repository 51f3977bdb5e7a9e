/** A solver that prices from a table. It connects to an aggregator, quotes and fills. Its account has a bond on the contract. */
import { createSolver, type DepositedOrder, decline, type SolverQuoteRequest } from '@quote-aggregator/solver'
import type { Address, Hex } from 'viem'

const { AGGREGATOR_URL, RPC_URL, PRIVATE_KEY, STATE_FILE } = process.env
/** The settlement contract and the tokens of the demo. Name those of your chain. */
const SETTLEMENT = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
/** By token: how many of its smallest units are one token, and how many millionths of a dollar one costs. */
const TABLE: Record<Address, { unit: bigint; micros: bigint }> = {
  '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0': { unit: 10n ** 18n, micros: 2_500_000_000n },
  '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9': { unit: 10n ** 6n, micros: 1_000_000n },
}
const SPREAD_BPS = 4n
/**
 * Below this much worth of output, in millionths of a dollar, nothing is quoted. Gas is free in the demo. On a real chain, set it to what
 * a `settle` of 433,000 gas costs, divided by the spread: at 1 gwei and an ether of 2,500 dollars, 2,700 dollars. A slash counts smallest
 * units, so a bond token of 6 decimals covers next to no WETH: the kit declines what pays it out.
 */
const LEAST_MICROS = 1_000_000n

function quote({ inputToken, outputToken, orderType, amount }: SolverQuoteRequest) {
  const [input, output] = [TABLE[inputToken], TABLE[outputToken]]
  if (input === undefined || output === undefined) return decline('UNSUPPORTED_PAIR')
  // The worth of both sides: the user gets less than its input is worth, by the spread.
  const give = input.micros * output.unit * (10_000n - SPREAD_BPS)
  const get = output.micros * input.unit * 10_000n
  const priced = orderType === 'EXACT_INPUT' ? (amount * give) / get : (amount * get + give - 1n) / give
  const paidOut = orderType === 'EXACT_INPUT' ? priced : amount
  const isEnough = paidOut * output.micros >= LEAST_MICROS * output.unit
  return isEnough ? { amount: priced } : decline('AMOUNT_TOO_SMALL')
}

/** Deposits that are not paid yet, by order: both hooks may be called more than once for each. */
const toHedge = new Map<Hex, DepositedOrder>()

const solver = createSolver({
  account: PRIVATE_KEY as Hex,
  name: 'From a table',
  aggregatorUrl: AGGREGATOR_URL ?? 'http://localhost:3000',
  chains: {
    31337: {
      rpc: RPC_URL ?? 'http://localhost:8545',
      settlement: SETTLEMENT,
      tokens: Object.keys(TABLE) as Address[],
    },
  },
  quote,
  // The demo leaves 5 s to fill an order. Leave this out on a real chain.
  minFillSeconds: 5,
  stateFile: STATE_FILE ?? 'solver.db',
  onSession(change) {
    // Another process has the session, or the instance takes this solver no more: a supervisor must see it.
    if (change.state === 'lost' && change.isFinal) endWhenNothingIsOwed()
  },
  // Hedge here, once for each order: what the user pays is yours soon.
  onDeposit: (order) => void toHedge.set(order.orderId, order),
  onFilled: ({ orderId }) => void toHedge.delete(orderId),
  // Sessions, deposits, ended orders, errors, and why a request was declined.
  log: console,
})
/** An instance can end a session at any time. What was signed must be paid or ended before the process. */
function endWhenNothingIsOwed(): void {
  const { openOrders, openQuotes } = solver.metrics()
  if (openOrders + openQuotes > 0) setTimeout(endWhenNothingIsOwed, 1_000)
  else void solver.close().finally(() => process.exit(1))
}

await solver.start().catch((error) => {
  console.error(error)
  endWhenNothingIsOwed()
})
process.once('SIGTERM', () => solver.close())
