import {
  AggregatorError,
  createAggregatorClient,
  limitsOf,
  type QuoteParams,
  readSettlement,
  verifyQuote,
} from '@quote-aggregator/client'
import { type Address, createPublicClient, http } from 'viem'

interface PageOptions {
  readonly serviceUrl: string
  readonly rpcUrl: string
  readonly settlement: Address
  readonly params: Omit<QuoteParams, 'amount'> & { readonly amount: string }
}

/** What a page does for its user, up to the deposit. @returns what it found out, as plain JSON */
export async function quoteAndVerify({ serviceUrl, rpcUrl, settlement, params: plain }: PageOptions) {
  const params = { ...plain, amount: BigInt(plain.amount) }
  const aggregator = createAggregatorClient({ baseUrl: serviceUrl })
  const { best } = await aggregator.getQuote(params)
  const terms = await readSettlement(createPublicClient({ transport: http(rpcUrl) }), settlement)
  await verifyQuote(best, { ...terms, params, limits: limitsOf(best.quote) })
  for await (const { state } of aggregator.watchOrder(params.chainId, best.orderId)) {
    return { orderId: best.orderId, outputAmount: String(best.quote.outputAmount), state }
  }
  throw new Error('the watch has ended')
}

/** What a page learns of its own mistake. */
export async function askForNothing({ serviceUrl, params }: PageOptions) {
  const aggregator = createAggregatorClient({ baseUrl: serviceUrl })
  try {
    return await aggregator.getQuote({ ...params, amount: 0n })
  } catch (error) {
    if (!(error instanceof AggregatorError)) throw error
    return { reason: error.reason, fields: error.violations.map(({ field }) => field) }
  }
}
