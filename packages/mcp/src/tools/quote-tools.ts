import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { AggregatorClient, QuoteParams, SignedQuote } from '../../../client/src/index.js'
import { differenceFromAsked } from '../../../protocol/src/quotes/asked-swap.js'
import { chainId, rows, swap, userAddress } from '../schemas.js'
import { addTool, printable, ToolError } from '../tool.js'

const MAX_OTHERS = 3

/**
 * What a swap costs, and how an answer came about.
 * @param admitQuote counts a quote; it throws a ToolError when there were too many in a minute
 */
export function addQuoteTools(server: McpServer, client: AggregatorClient, admitQuote: () => void): void {
  addTool(server, 'get_price', {
    input: swap,
    output: { best: z.looseObject({}), offers: z.int(), asOf: z.int(), binding: z.literal(false) },
    async run(params, signal) {
      const { best, offers, asOf } = await client.getPrice(params, { signal })
      return { best: { ...best, name: printable(best.name) }, offers, asOf, binding: false }
    },
  })

  addTool(server, 'get_quote', {
    input: {
      ...swap,
      userAddress,
      // An agent may repeat a call, and keeps no offer: an address would be paid twice, and give nothing back.
      depositMode: z.literal('CONTRACT').default('CONTRACT').describe('By a call, which is taken once'),
    },
    output: { quoteId: z.string().optional(), best: z.looseObject({}), others: rows },
    async run({ userAddress: user, ...params }, signal) {
      admitQuote()
      const asked = { ...params, user }
      const { quoteId, best, alternatives } = await client.getQuote(asked, { signal })
      const offers = [best, ...alternatives.slice(0, MAX_OTHERS)]
      const [first, ...others] = offers.map((offer) => toOffer(asked, offer))
      return { quoteId, best: first, others }
    },
  })

  addTool(server, 'explain_quote', {
    input: { chainId, quoteId: z.string().min(1).max(128) },
    output: { outcome: z.string().optional(), solvers: rows },
    async run({ chainId, quoteId }, signal) {
      const { outcome, request, solvers } = await client.getQuoteRecord(chainId, quoteId, { signal })
      const explained = solvers.map(({ solver, outcome, rank, explanation }) => {
        return { solver, outcome, rank, explanation: printable(explanation, 300) }
      })
      return { outcome, request, solvers: explained }
    },
  })
}

/** An offer as `verify_quote` takes it, without calls. @throws ToolError for one of another swap */
function toOffer(asked: QuoteParams, { quote, signature, orderId }: SignedQuote): object {
  const name = differenceFromAsked(asked, quote)
  if (name) throw new ToolError('ANSWER_INVALID', `The instance has offered another swap (${name}).`)
  return { quote, solverSignature: signature, orderId }
}
