import { type Address, formatUnits, type Hex } from 'viem'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { testTokenAbi } from '../../gen/contracts/test-token.js'
import { createDevnetClient, type DevnetClient, mined } from './deploy.js'
import type { EventView } from './event-view.js'
import type { Network } from './network.js'

/** Prints one line of the story. */
export type Print = (line: string) => void

/** The network, and the events of its service. */
export interface ScenarioContext extends Network {
  /** Where the user requests quotes. */
  readonly serviceUrl: string
  readonly events: EventView
}

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

/** The best quote, and the others. */
export type QuoteResponse = SignedWireQuote & { readonly alternativeQuotes: readonly SignedWireQuote[] }

/** The event that brings an order into a state. */
const EVENT_OF_STATE = { DEPOSITED: 'Deposited', SETTLED: 'Settled', REFUNDED: 'Refunded' } as const

/** Requests a quote of WETH for USDC, and prints each solver's offer. @throws Error when there is none */
export async function getQuote(
  { devnet, contracts, user, solvers, serviceUrl }: ScenarioContext,
  print: Print,
  terms: Record<string, unknown>,
): Promise<QuoteResponse> {
  const { chainId } = devnet
  const swap = { inputToken: contracts.weth, outputToken: contracts.usdc, userAddress: user.address }
  const response = await fetch(`${serviceUrl}/v1/${chainId}/quote`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...swap, ...terms, originChainId: chainId, destinationChainId: chainId }),
  })
  if (!response.ok) throw new Error(`no quote: ${await response.text()}`)
  const answer = (await response.json()) as QuoteResponse
  for (const { quote } of [answer, ...answer.alternativeQuotes]) {
    const name = solvers.find(({ account }) => account.address === quote.solver)?.name ?? quote.solver
    const give = formatUnits(BigInt(quote.inputAmount), 18)
    const get = formatUnits(BigInt(quote.outputAmount), 6)
    print(`   ${name.padEnd(8)} ${get} USDC for ${give} WETH${quote === answer.quote ? '  <- best' : ''}`)
  }
  return answer
}

/** Deposits the input of a quote at the contract. @throws Error when a transaction fails */
export async function deposit(
  client: DevnetClient,
  { contracts }: Network,
  taken: SignedWireQuote,
): Promise<void> {
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

/** Waits for an order's event, then compares its state at the service with the contract's own. */
export async function waitForState(
  stage: ScenarioContext,
  orderId: Hex,
  expected: keyof typeof EVENT_OF_STATE,
  print: Print,
): Promise<void> {
  const { devnet, contracts, user, events, serviceUrl } = stage
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
  print(`   ${expected}`)
}

/** Sends a transaction to a token. @throws Error when it fails */
export async function send(
  client: DevnetClient,
  address: Address,
  functionName: 'approve' | 'transfer',
  args: [Address, bigint],
): Promise<void> {
  await mined(client, await client.writeContract({ address, abi: testTokenAbi, functionName, args }))
}

/** The balance of the client's account in a token. */
export function balanceOf(client: DevnetClient, address: Address): Promise<bigint> {
  const read = {
    address,
    abi: testTokenAbi,
    functionName: 'balanceOf',
    args: [client.account.address],
  } as const
  return client.readContract(read)
}

/** @throws Error that names the difference */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`)
}
