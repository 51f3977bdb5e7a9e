import { setTimeout as delay } from 'node:timers/promises'
import { parseUnits } from 'viem'
import { createDevnetClient, send } from './deploy.js'
import { type Network, USUAL_PRICE_MICROS } from './network.js'
import { refundUnfilled } from './scenario.js'
import { deposit, getQuote, type Print } from './user-steps.js'

/** The limits of the service leave room for a person who asks from the same address. */
const PAUSE_MS = 5_000
/** Of so many orders, one is paid to its deposit address, and one is not filled. */
const CYCLE = 6
/** In WETH. Solvers whose missed orders have cost a hundredth of their bond stop to quote, and this takes them days. */
const UNFILLED = '0.002'
const silent = () => {}

/** Keeps a little traffic going: an order every few seconds. Returns when the service no longer answers. */
export async function runTraffic(network: Network, printTrouble: Print): Promise<void> {
  for (let round = 0; ; round++) {
    await delay(PAUSE_MS)
    try {
      await playRound(network, round)
    } catch (error) {
      printTrouble(`the traffic pauses: ${(error as Error).message}`)
      await delay(PAUSE_MS)
    }
  }
}

async function playRound(stage: Network, round: number): Promise<void> {
  const step = round % CYCLE
  stage.setPrice(priceAt(round))
  if (step === CYCLE - 1) return void (await refundUnfilled(stage, silent, UNFILLED))
  const { devnet, user, contracts } = stage
  const client = createDevnetClient(devnet, user)
  const isByAddress = step === 2
  const order = await getQuote(stage, silent, {
    orderType: isByAddress ? 'EXACT_OUTPUT' : 'EXACT_INPUT',
    amount: isByAddress ? parseUnits(randomDigits(300), 6) : parseUnits(randomDigits(3), 18),
    depositMode: isByAddress ? 'ADDRESS' : 'CONTRACT',
  })
  if (!isByAddress) return deposit(client, stage, order)
  await send(client, contracts.weth, 'transfer', [order.depositAddress, order.quote.inputAmount])
}

/** A price that wanders within a percent of the usual one, so that charts have something to show. */
function priceAt(round: number): bigint {
  const wave = Math.sin(round / 9) * 60 + Math.sin(round / 2.3) * 20 + (Math.random() - 0.5) * 10
  return (USUAL_PRICE_MICROS * BigInt(Math.round(10_000 + wave))) / 10_000n
}

/** An amount between a tenth and the whole, with a few digits. */
function randomDigits(most: number): string {
  return (most * (0.1 + 0.9 * Math.random())).toFixed(3)
}
