import { type Address, formatUnits, type Hex, parseUnits } from 'viem'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { testTokenAbi } from '../../gen/contracts/test-token.js'
import { createDevnetClient, type DevnetClient, mined } from './deploy.js'
import { type EventView, openEventView } from './event-view.js'
import type { Network } from './network.js'

/** Says one line of the story. */
export type Tell = (line: string) => void

interface WireQuote {
  readonly solver: Address
  readonly user: Address
  readonly inputToken: Address
  readonly inputAmount: string
  readonly outputToken: Address
  readonly outputAmount: string
  readonly orderType: number
  readonly outputChainId: number
  readonly depositDeadline: number
  readonly fillDeadline: number
  readonly nonce: string
}

interface SignedWireQuote {
  readonly quote: WireQuote
  readonly solverSignature: Hex
  readonly depositAddress: Address
  readonly orderId: Hex
}

type QuoteAnswer = SignedWireQuote & { readonly alternativeQuotes: readonly SignedWireQuote[] }

const SHORT_WINDOW_SECONDS = 3

/**
 * Plays three orders through a network, as a user would: one deposited at the contract and filled, one paid to its
 * deposit address and settled, one that nobody fills and that is refunded with a part of the solver's bond.
 * @throws when anything does not happen as told
 */
export async function playStory(network: Network, tell: Tell): Promise<void> {
  const events = await openEventView(network.serviceUrl, ({ type, orderId, blockNumber }) =>
    tell(`   event    ${type} ${orderId} in block ${blockNumber}`),
  )
  try {
    await playOrders({ ...network, events }, tell)
  } finally {
    events.close()
  }
}

/** The network, and what its service tells of it. */
interface Stage extends Network {
  readonly events: EventView
}

async function playOrders(network: Stage, tell: Tell): Promise<void> {
  const { contracts, devnet, user } = network
  const client = createDevnetClient(devnet, user)
  const swap = { inputToken: contracts.weth, outputToken: contracts.usdc, userAddress: user.address }

  tell('1. Sell exactly 1 WETH, deposited at the contract')
  const sale = await getQuote(network, tell, {
    ...swap,
    orderType: 'EXACT_INPUT',
    amount: weth('1'),
    depositMode: 'CONTRACT',
  })
  const paidBefore = await balanceOf(client, contracts.usdc)
  await deposit(client, network, sale)
  tell(`   deposited: order ${sale.orderId}`)
  await waitForState(network, sale.orderId, 'SETTLED', tell)
  const paid = (await balanceOf(client, contracts.usdc)) - paidBefore
  expectEqual('USDC received', paid, BigInt(sale.quote.outputAmount))

  tell('2. Buy exactly 1000 USDC, paid to the deposit address')
  const purchase = await getQuote(network, tell, {
    ...swap,
    orderType: 'EXACT_OUTPUT',
    amount: parseUnits('1000', 6).toString(),
    depositMode: 'ADDRESS',
  })
  await send(client, contracts.weth, 'transfer', [
    purchase.depositAddress,
    BigInt(purchase.quote.inputAmount),
  ])
  tell(`   paid ${purchase.depositAddress}: order ${purchase.orderId}`)
  await waitForState(network, purchase.orderId, 'SETTLED', tell)

  tell('3. Sell 1 WETH to a solver that does not fill')
  const lost = await getQuote(network, tell, {
    ...swap,
    orderType: 'EXACT_INPUT',
    amount: weth('1'),
    depositMode: 'CONTRACT',
    depositWindow: SHORT_WINDOW_SECONDS,
  })
  await playRefund(client, network, lost, tell)
}

async function playRefund(
  client: DevnetClient,
  network: Stage,
  lost: QuoteAnswer,
  tell: Tell,
): Promise<void> {
  const { contracts } = network
  const solver = network.solvers.find(({ account }) => account.address === lost.quote.solver)
  if (solver === undefined) throw new Error(`${lost.quote.solver} is none of the network's solvers`)
  solver.filler.pause()
  const inputBefore = await balanceOf(client, contracts.weth)
  const bondBefore = await balanceOf(client, contracts.bondToken)
  await deposit(client, network, lost)
  tell(`   deposited: order ${lost.orderId}, while ${solver.name} is asleep`)
  await waitForState(network, lost.orderId, 'DEPOSITED', tell)

  const waitMs = (lost.quote.fillDeadline + 1) * 1000 - Date.now()
  tell(`   waiting ${Math.ceil(waitMs / 1000)} s for the fill deadline to pass`)
  await new Promise((resolve) => setTimeout(resolve, waitMs))
  const refund = {
    address: contracts.settlement,
    abi: settlementAbi,
    functionName: 'refund',
    args: [lost.orderId],
  } as const
  await mined(client, await client.writeContract(refund))
  await waitForState(network, lost.orderId, 'REFUNDED', tell)

  expectEqual('WETH after the refund', await balanceOf(client, contracts.weth), inputBefore)
  const slashed = (await balanceOf(client, contracts.bondToken)) - bondBefore
  expectEqual('slashed bond', slashed, BigInt(lost.quote.outputAmount) / 20n)
  tell(`   the WETH is back, with ${formatUnits(slashed, 6)} bUSD of ${solver.name}'s bond`)
  solver.filler.resume()
}

async function getQuote(network: Network, tell: Tell, swap: Record<string, unknown>): Promise<QuoteAnswer> {
  const { chainId } = network.devnet
  const response = await fetch(`${network.serviceUrl}/v1/${chainId}/quote`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...swap, originChainId: chainId, destinationChainId: chainId }),
  })
  if (!response.ok) throw new Error(`no quote: ${await response.text()}`)
  const answer = (await response.json()) as QuoteAnswer
  for (const { quote } of [answer, ...answer.alternativeQuotes]) {
    const name = network.solvers.find(({ account }) => account.address === quote.solver)?.name ?? quote.solver
    const give = formatUnits(BigInt(quote.inputAmount), 18)
    const get = formatUnits(BigInt(quote.outputAmount), 6)
    tell(`   ${name.padEnd(8)} ${get} USDC for ${give} WETH${quote === answer.quote ? '  <- best' : ''}`)
  }
  return answer
}

async function deposit(client: DevnetClient, { contracts }: Network, taken: SignedWireQuote): Promise<void> {
  const { quote, solverSignature } = taken
  const inputAmount = BigInt(quote.inputAmount)
  await send(client, quote.inputToken, 'approve', [contracts.settlement, inputAmount])
  const struct = {
    ...quote,
    inputAmount,
    outputAmount: BigInt(quote.outputAmount),
    outputChainId: BigInt(quote.outputChainId),
    nonce: BigInt(quote.nonce),
  }
  const call = { address: contracts.settlement, abi: settlementAbi, functionName: 'deposit' } as const
  await mined(client, await client.writeContract({ ...call, args: [struct, solverSignature] }))
}

/** The event that ends the wait for a state. */
const EVENT_OF_STATE = { DEPOSITED: 'Deposited', SETTLED: 'Settled', REFUNDED: 'Refunded' } as const

/** Waits for an order's event, then holds its state as the service has it against the contract's own answer. */
async function waitForState(
  network: Stage,
  orderId: Hex,
  expected: keyof typeof EVENT_OF_STATE,
  tell: Tell,
): Promise<void> {
  const { serviceUrl, devnet, contracts, user, events } = network
  await events.waitFor(EVENT_OF_STATE[expected], orderId)
  const response = await fetch(`${serviceUrl}/v1/${devnet.chainId}/order/${orderId}`)
  if (!response.ok) throw new Error(`no order: ${await response.text()}`)
  const { state } = (await response.json()) as { state: string }
  expectEqual(`state of ${orderId} at the service`, state, expected)
  const read = {
    address: contracts.settlement,
    abi: settlementAbi,
    functionName: 'orders',
    args: [orderId],
  } as const
  const onChain = (await createDevnetClient(devnet, user).readContract(read)).at(-1)
  expectEqual(
    `state of ${orderId} on the chain`,
    onChain,
    ['NONE', 'DEPOSITED', 'SETTLED', 'REFUNDED'].indexOf(expected),
  )
  tell(`   ${expected}`)
}

function send(
  client: DevnetClient,
  address: Address,
  functionName: 'approve' | 'transfer',
  args: [Address, bigint],
) {
  return client
    .writeContract({ address, abi: testTokenAbi, functionName, args })
    .then((hash) => mined(client, hash))
}

function balanceOf(client: DevnetClient, address: Address): Promise<bigint> {
  const read = {
    address,
    abi: testTokenAbi,
    functionName: 'balanceOf',
    args: [client.account.address],
  } as const
  return client.readContract(read)
}

function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`)
}

function weth(amount: string): string {
  return parseUnits(amount, 18).toString()
}
