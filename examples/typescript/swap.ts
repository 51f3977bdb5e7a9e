/** Swaps through an aggregator as a careful user does: ask, check, deposit, watch. */
import {
  createAggregatorClient,
  depositCalls,
  type QuoteParams,
  readSettlement,
  verifyQuote,
} from '@quote-aggregator/client'
import { type Address, createWalletClient, type Hex, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** Where to swap, and as whom. */
export interface SwapOptions {
  /** Where the aggregator answers. */
  readonly aggregatorUrl: string
  /** A node that the user trusts. */
  readonly rpcUrl: string
  readonly settlement: Address
  readonly privateKey: Hex
}

/** Swaps, and tells each step. @throws when anything is not as it should be */
export async function swap(
  options: SwapOptions,
  terms: Omit<QuoteParams, 'user' | 'depositMode'>,
  tell: (line: string) => void,
): Promise<void> {
  const account = privateKeyToAccount(options.privateKey)
  const wallet = createWalletClient({ account, transport: http(options.rpcUrl) }).extend(publicActions)
  const aggregator = createAggregatorClient({ baseUrl: options.aggregatorUrl })

  const params: QuoteParams = { ...terms, user: account.address, depositMode: 'CONTRACT' }
  const { best } = await aggregator.getQuote(params)
  const settlement = await readSettlement(wallet, options.settlement)
  await verifyQuote(best, { ...settlement, params })
  tell(`quote ${best.orderId} ${best.quote.outputAmount}`)

  for (const call of await depositCalls(best, settlement)) {
    const hash = await wallet.sendTransaction({ ...call, chain: null })
    const { status } = await wallet.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`transaction ${hash} reverted`)
  }
  for await (const order of aggregator.watchOrder(params.chainId, best.orderId)) {
    tell(`order ${order.state}`)
    if (order.state === 'SETTLED' || order.state === 'REFUNDED') break
  }
}
