import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { formatUnits, parseEther, parseUnits } from 'viem'
import { createDevnetClient, devAccount, mined, send } from './deploy.js'
import type { Network } from './network.js'
import { balanceOf, deposit, expectEqual, getQuote, type Print, waitForState } from './user-steps.js'

/**
 * Plays three orders through a network, as a user would. One is deposited at the contract and filled. One is
 * paid to its deposit address and settled. One is not filled, and is refunded with a part of the solver's
 * bond.
 * @throws Error when a step has another result than expected
 */
export async function runScenario(network: Network, print: Print): Promise<void> {
  print('1. Sell exactly 1 WETH, deposited at the contract')
  await playSale(network, print)
  print('2. Buy exactly 1000 USDC, paid to the deposit address')
  await playPurchase(network, print)
  print('3. Sell 1 WETH to a solver that does not fill, as another user')
  await playRefund(network, print)
}

const SHORT_WINDOW_SECONDS = 3
/** Between reads of the chain's clock. */
const CHAIN_CLOCK_MS = 100

/**
 * Sells exactly 1 WETH, deposited at the contract.
 * @throws Error when a step has another result than expected
 */
export async function playSale(stage: Network, print: Print): Promise<void> {
  const { devnet, user, contracts } = stage
  const client = createDevnetClient(devnet, user)
  const sale = await getQuote(stage, print, {
    orderType: 'EXACT_INPUT',
    amount: parseUnits('1', 18),
    depositMode: 'CONTRACT',
  })
  const paidBefore = await balanceOf(client, contracts.usdc)
  await deposit(client, stage, sale)
  print(`   deposited: order ${sale.orderId}`)
  await waitForState(stage, sale.orderId, 'SETTLED', print)
  expectEqual(
    'USDC received',
    (await balanceOf(client, contracts.usdc)) - paidBefore,
    sale.quote.outputAmount,
  )
}

/**
 * Buys exactly 1000 USDC, paid to the deposit address. @throws Error when a step has another result than
 * expected
 */
async function playPurchase(stage: Network, print: Print): Promise<void> {
  const { devnet, user, contracts } = stage
  const purchase = await getQuote(stage, print, {
    orderType: 'EXACT_OUTPUT',
    amount: parseUnits('1000', 6),
    depositMode: 'ADDRESS',
  })
  const { depositAddress, orderId, quote } = purchase
  const client = createDevnetClient(devnet, user)
  await send(client, contracts.weth, 'transfer', [depositAddress, quote.inputAmount])
  print(`   paid ${depositAddress}: order ${orderId}`)
  await waitForState(stage, orderId, 'SETTLED', print)
}

/**
 * Sells 1 WETH to a solver that does not fill, and gets it back with a part of the solver's bond.
 * @throws Error when a step has another result than expected
 */
async function playRefund(stage: Network, print: Print): Promise<void> {
  const { devnet, contracts } = stage
  const { lost, solver, user, held } = await refundUnfilled(stage, print, '1')
  const client = createDevnetClient(devnet, user)
  expectEqual('WETH after the refund', await balanceOf(client, contracts.weth), held)
  const slashed = await balanceOf(client, contracts.bondToken)
  expectEqual('slashed bond', slashed, lost.quote.outputAmount / 20n)
  print(`   the WETH is back, with ${formatUnits(slashed, 6)} bUSD of ${solver.name}'s bond`)
}

/** A user with tokens and Ether for a few swaps. */
async function createUser({ devnet, user: payer, contracts }: Network) {
  const user = devAccount(randomInt(10, 2 ** 31))
  const client = createDevnetClient(devnet, payer)
  await mined(client, await client.sendTransaction({ to: user.address, value: parseEther('1') }))
  const held = parseUnits('10', 18)
  await send(client, contracts.weth, 'mint', [user.address, held])
  return { user, held }
}

/**
 * Sells 1 WETH to a solver that fills all but this order, then refunds it after its fill deadline. A new user does it, since a
 * solver makes no more offers to the user of an order that it has missed.
 * @param sold in whole WETH
 * @throws Error when a step has another result than expected
 */
export async function refundUnfilled(network: Network, print: Print, sold: string) {
  const { user, held } = await createUser(network)
  const stage = { ...network, user }
  const { devnet, contracts, solvers } = stage
  const client = createDevnetClient(devnet, user)
  const lost = await getQuote(stage, print, {
    orderType: 'EXACT_INPUT',
    amount: parseUnits(sold, 18),
    depositMode: 'CONTRACT',
    depositWindow: SHORT_WINDOW_SECONDS,
  })
  const solver = solvers.find(({ account }) => account.address === lost.quote.solver)
  if (solver === undefined) throw new Error(`${lost.quote.solver} is not one of the network's solvers`)
  solver.mayFill = (orderId) => orderId !== lost.orderId
  await deposit(client, stage, lost)
  print(`   deposited: order ${lost.orderId}, which ${solver.name} does not fill`)
  const depositedAt = await waitForState(stage, lost.orderId, 'DEPOSITED', print)

  const passedAt = (lost.quote.fillDeadline + 1) * 1000
  print(`   waiting ${Math.ceil((passedAt - Date.now()) / 1000)} s for the fill deadline to pass`)
  await delay(passedAt - Date.now())
  // The chain decides. Its clock may be late by a second.
  while (Number((await client.getBlock({ blockTag: 'pending' })).timestamp) <= lost.quote.fillDeadline)
    await delay(CHAIN_CLOCK_MS)
  await send(client, contracts.settlement, 'refund', [lost.orderId])
  await waitForState(stage, lost.orderId, 'REFUNDED', print, depositedAt)
  return { lost, solver, user, held }
}
