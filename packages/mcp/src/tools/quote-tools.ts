import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { SignedQuote } from '../../../client/src/index.js'
import type { McpParts } from '../mcp-parts.js'
import { chainId, depositMode, rows, swap, userAddress } from '../schemas.js'
import { addTool, printable } from '../tool.js'

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
      userAddress,
      depositMode,
    },
    output: { quoteId: z.string().optional(), best: z.looseObject({}), others: rows },
    async run({ userAddress: user, ...params }, signal) {
      admitQuote()
      const { quoteId, best, alternatives } = await client.getQuote({ ...params, user }, { signal })
      return { quoteId, best: toOffer(best), others: alternatives.slice(0, MAX_OTHERS).map(toOffer) }
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

/** An offer as `verify_quote` takes it, without calls. */
function toOffer({ quote, signature, orderId }: SignedQuote): object {
  return { quote, solverSignature: signature, orderId }
}
