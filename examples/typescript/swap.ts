/** A swap through an aggregator: request, verify, deposit, watch. */
import {
  createAggregatorClient,
  type OfferLimits,
  type QuoteParams,
  readSettlement,
  sendDeposit,
  verifyQuote,
} from '@quote-aggregator/client'
import { type Address, createWalletClient, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** The instance, the chain and the user. */
export interface SwapOptions {
  /** Base URL of the instance. */
  readonly aggregatorUrl: string
  /** A node that the user trusts. */
  readonly rpcUrl: string
  readonly settlement: Address
  readonly privateKey: Hex
}

/**
 * Swaps, and reports each step.
 * @param limits the worst price to take. They must come from a source of your own: an instance may offer anything
 * @throws when a check or a transaction fails
 */
export async function swap(
  options: SwapOptions,
  terms: Omit<QuoteParams, 'user' | 'depositMode'>,
  limits: OfferLimits,
  report: (line: string) => void,
): Promise<void> {
  const account = privateKeyToAccount(options.privateKey)
  const wallet = createWalletClient({ account, transport: http(options.rpcUrl) })
  const aggregator = createAggregatorClient({ baseUrl: options.aggregatorUrl })

  const params: QuoteParams = { ...terms, user: account.address, depositMode: 'CONTRACT' }
  const { best } = await aggregator.getQuote(params)
  const settlement = await readSettlement(wallet, options.settlement)
  await verifyQuote(best, { ...settlement, params, limits })
  report(`quote ${best.orderId} ${best.quote.outputAmount}`)

  await sendDeposit(wallet, best, settlement, { params, limits })
  for await (const order of aggregator.watchOrder(params.chainId, best.orderId)) {
    report(`order ${order.state}`)
    if (order.state === 'SETTLED' || order.state === 'REFUNDED') break
  }
}
