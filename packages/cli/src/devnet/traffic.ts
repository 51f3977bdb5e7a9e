import { setTimeout as delay } from 'node:timers/promises'
import { parseUnits } from 'viem'
import { createDevnetClient, devAccounts, send } from './deploy.js'
import { type Network, USUAL_PRICE_MICROS } from './network.js'
import { refundUnfilled } from './scenario.js'
import { deposit, getQuote, type Print, waitForState } from './user-steps.js'

const PAUSE_MS = 5_000
/** The first rounds come faster, so that there is a market to look at. */
const EARLY_ROUNDS = 30
const EARLY_PAUSE_MS = 200
/** Of so many orders, one is not filled. Each solver has won about a third of them by then, and stays above nine in ten. */
const LOSS_CYCLE = 40
/** In WETH. Solvers whose missed orders have cost a hundredth of their bond stop to quote, and this takes them days. */
const UNFILLED = '0.01'
const silent = () => {}

/** Keeps a little traffic going: an order every few seconds. Returns when the service no longer answers. */
export async function runTraffic(network: Network, printTrouble: Print): Promise<void> {
  for (let round = 1; ; round++) {
    await delay(round < EARLY_ROUNDS ? EARLY_PAUSE_MS : PAUSE_MS)
    try {
      await playRound(network, round)
    } catch (error) {
      printTrouble(`the traffic misses an order: ${(error as Error).message}`)
    }
  }
}

/** Makes an order at the prices of a round, and refunds it where none fills it. @throws what fails */
export async function playRound(network: Network, round: number): Promise<void> {
  network.weth.priceMicros = priceAt(round)
  for (const [index, { spreadBps }] of network.solvers.entries())
    spreadBps.EXACT_INPUT = spreadBps.EXACT_OUTPUT = spreadAt(round, index)
  await (round % LOSS_CYCLE === 0 ? refundUnfilled(network, silent, UNFILLED) : trade(network, round))
}

/** Sells up to three WETH, as one of three accounts. They are minted for it. */
async function trade(network: Network, round: number): Promise<void> {
  const { devnet, contracts } = network
  const user = devAccounts[7 + (round % 3)] ?? network.user
  const amount = parseUnits((0.1 + Math.random() * 2.9).toFixed(3), 18)
  const terms = { orderType: 'EXACT_INPUT', amount, depositMode: 'CONTRACT' } as const
  const offer = await getQuote({ ...network, user }, silent, terms)
  const client = createDevnetClient(devnet, user)
  await send(client, contracts.weth, 'mint', [user.address, amount])
  await deposit(client, network, offer)
  await waitForState(network, offer.orderId, 'SETTLED', silent)
}

/** A price that wanders within half a percent of the usual one, so that charts have something to show. */
function priceAt(round: number): bigint {
  const wave = Math.sin(round / 9) * 20 + Math.sin(round / 2.3) * 6 + (Math.random() - 0.5) * 4
  return (USUAL_PRICE_MICROS * BigInt(Math.round(10_000 + wave))) / 10_000n
}

/** A solver's profit in basis points. It wanders against that of the others, and each of three is the lowest a third of the time. */
function spreadAt(round: number, index: number): number {
  return 7 + 3 * Math.sin(round + (index * Math.PI * 2) / 3) + Math.random()
}
