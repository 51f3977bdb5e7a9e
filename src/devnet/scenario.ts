import { openEventView } from './event-view.js'
import type { Network } from './network.js'
import { playPurchase, playRefund, playSale } from './orders.js'
import type { Print, ScenarioContext } from './user-steps.js'

/**
 * Plays three orders through a network, as a user would. One is deposited at the contract and filled. One is
 * paid to its deposit address and settled. One is not filled, and is refunded with a part of the solver's
 * bond.
 * @throws Error when a step has another result than expected
 */
export async function runScenario(network: Network, print: Print): Promise<void> {
  const events = await openEventView({
    serviceUrl: network.serviceUrl,
    onEvent: ({ type, orderId, blockNumber }) =>
      print(`   event    ${type} ${orderId} in block ${blockNumber}`),
    onError: (error) => print(`   the event stream is lost: ${error}`),
  })
  try {
    await playOrders({ ...network, events }, print)
  } finally {
    await events.close()
  }
}

async function playOrders(stage: ScenarioContext, print: Print): Promise<void> {
  print('1. Sell exactly 1 WETH, deposited at the contract')
  await playSale(stage, print)
  print('2. Buy exactly 1000 USDC, paid to the deposit address')
  await playPurchase(stage, print)
  print('3. Sell 1 WETH to a solver that does not fill')
  await playRefund(stage, print)
}
