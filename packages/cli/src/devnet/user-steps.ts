import {
  createAggregatorClient,
  depositCalls,
  type QuoteParams,
  type SignedQuote,
} from '@quote-aggregator/client'
import { type Address, formatUnits, type Hex } from 'viem'
import { readView } from '../../../protocol/src/node/read-view.js'
import { balanceOf as viewOfBalance } from '../../../protocol/src/settlement/token-calls.js'
import { type DevnetClient, mined } from './deploy.js'
import type { Network } from './network.js'

/** Prints one line of the story. */
export type Print = (line: string) => void

/** What a user chooses of a swap of WETH for USDC. */
type Terms = Pick<QuoteParams, 'orderType' | 'amount' | 'depositMode' | 'depositWindow'>

/** The event that brings an order into a state. */
const EVENT_OF_STATE = { DEPOSITED: 'Deposited', SETTLED: 'Settled', REFUNDED: 'Refunded' } as const
const TIMEOUT_MS = 60_000

/** Requests a quote of WETH for USDC, and prints each solver's offer. @returns the best one @throws AggregatorError */
export async function getQuote(
  { devnet: { chainId }, contracts, user, solvers, serviceUrl }: Network,
  print: Print,
  terms: Terms,
): Promise<SignedQuote> {
  const swap = { chainId, inputToken: contracts.weth, outputToken: contracts.usdc, user: user.address }
  const { best, alternatives } = await createAggregatorClient({ baseUrl: serviceUrl }).getQuote({
    ...swap,
    ...terms,
  })
  for (const { quote } of [best, ...alternatives]) {
    const name = solvers.find(({ account }) => account.address === quote.solver)?.name ?? quote.solver
    const give = formatUnits(quote.inputAmount, 18)
    const get = formatUnits(quote.outputAmount, 6)
    print(`   ${name.padEnd(8)} ${get} USDC for ${give} WETH${quote === best.quote ? '  <- best' : ''}`)
  }
  return best
}

/** Deposits the input of an offer at the contract. @throws Error when a transaction fails */
export async function deposit(
  client: DevnetClient,
  { contracts: { settlement } }: Network,
  offer: SignedQuote,
): Promise<void> {
  for (const call of await depositCalls(offer, { client, settlement }))
    await mined(client, await client.sendTransaction(call))
}

/**
 * Waits for the event of a state, and for the order's state on the contract, which the service reads.
 * @param after only the events after this cursor are printed and count
 * @returns the cursor of the event
 */
export async function waitForState(
  { devnet, serviceUrl }: Network,
  orderId: Hex,
  expected: keyof typeof EVENT_OF_STATE,
  print: Print,
  after = 'earliest',
): Promise<string> {
  const aggregator = createAggregatorClient({ baseUrl: serviceUrl })
  const events = aggregator.streamEvents(
    { orderIds: [orderId], after },
    { signal: AbortSignal.timeout(TIMEOUT_MS) },
  )
  let cursor: string | undefined
  for await (const event of events) {
    print(`   event    ${event.type} ${orderId} in block ${event.blockNumber}`)
    if (event.type !== EVENT_OF_STATE[expected]) continue
    cursor = event.cursor
    break
  }
  if (cursor === undefined) throw new Error(`no ${EVENT_OF_STATE[expected]} of ${orderId} has come`)
  const { state } = await aggregator.getOrder(devnet.chainId, orderId)
  expectEqual(`state of ${orderId}`, state, expected)
  print(`   ${expected}`)
  return cursor
}

/** The balance of the client's account in a token. */
export function balanceOf({ request, account }: DevnetClient, token: Address): Promise<bigint> {
  return readView(request, token, viewOfBalance(account.address))
}

/** @throws Error that names the difference */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`)
}
