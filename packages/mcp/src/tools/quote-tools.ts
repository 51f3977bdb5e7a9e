import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { QuoteParams, SignedQuote } from '../../../client/src/index.js'
import { differenceFromAsked } from '../../../protocol/src/quotes/asked-swap.js'
import type { McpParts } from '../mcp-parts.js'
import { address, chainId, rows, swap } from '../schemas.js'
import { addTool, printable, ToolError } from '../tool.js'

const MAX_OTHERS = 3
const EXPLANATION_CHARACTERS = 300

/** What a swap costs, and how an answer came about. */
export function addQuoteTools(server: McpServer, { client, admitQuote }: McpParts): void {
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
      userAddress: address.describe("The owner's address, which pays and receives"),
      // An agent may repeat a call, and keeps no offer: an address would be paid twice, and give nothing back.
      depositMode: z.literal('CONTRACT').default('CONTRACT').describe('By a call, which is taken once'),
    },
    output: { quoteId: z.string().optional(), best: z.looseObject({}), others: rows },
    async run({ userAddress: user, ...params }, signal) {
      admitQuote()
      const asked = { ...params, user }
      const { quoteId, best, alternatives } = await client.getQuote(asked, { signal })
      const others = alternatives.slice(0, MAX_OTHERS)
      const [first, ...rest] = [best, ...others].map((offer) => toOffer(asked, offer))
      return { quoteId, best: first, others: rest }
    },
  })

  addTool(server, 'explain_quote', {
    input: { chainId, quoteId: z.string().min(1).max(128) },
    output: { outcome: z.string().optional(), solvers: rows },
    async run({ chainId, quoteId }, signal) {
      const { outcome, request, solvers } = await client.getQuoteRecord(chainId, quoteId, { signal })
      const explained = solvers.map(({ solver, outcome, rank, explanation }) => {
        return { solver, outcome, rank, explanation: printable(explanation, EXPLANATION_CHARACTERS) }
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
