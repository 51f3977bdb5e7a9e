import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import {
  depositCalls,
  explainForUser,
  identifyOffers,
  QuoteVerificationError,
  verifyQuote,
} from '../../../client/src/index.js'
import type { OwnChains } from '../own-chains.js'
import { offer, rows } from '../schemas.js'
import texts from '../texts.json' with { type: 'json' }
import { addTool, ToolError } from '../tool.js'

/** A limit that is smaller than the offer by so much is in whole tokens, and protects nobody. */
const OTHER_UNIT = 100_000n
/** What an agent must know of a problem beyond what people are told. */
const said: Readonly<Record<string, string>> = texts.problems

/** Checks of an offer by the owner's node, and the calls that take it. */
export function addOfferTools(server: McpServer, chains: OwnChains): void {
  addTool(server, 'verify_quote', {
    input: offer,
    output: { ok: z.boolean(), problems: rows },
    async run(given) {
      const { problems, amounts } = await check(given)
      return { ok: problems.length === 0, problems, amounts }
    },
  })

  addTool(server, 'build_transaction', {
    input: offer,
    output: { orderId: z.string(), from: z.string(), calls: rows },
    async run(given) {
      const { problems, amounts, terms, signed } = await check(given)
      if (signed === undefined || problems.length > 0)
        throw new ToolError('OFFER_REFUSED', 'This offer must not be taken.', { problems, amounts })
      const calls = await depositCalls(signed, terms)
      return { chainId: given.chainId, from: given.quote.user, orderId: signed.orderId, amounts, calls }
    },
  })

  async function check({ chainId, quote, solverSignature: signature, ...limits }: Offer) {
    const terms = await chains.terms(chainId)
    // The order id and the deposit address are those that the pinned contract computes, if any.
    const identity = identifyOffers(terms)(chainId, quote, signature)
    const signed = identity && { quote, signature, ...identity }
    const input = await chains.token(chainId, quote.inputToken)
    const output = await chains.token(quote.outputChainId, quote.outputToken)
    const codes: string[] = signed
      ? await verifyQuote(signed, { ...terms, limits }).then(() => [], problemsOf)
      : ['malformed']
    if (input.isMisread || output.isMisread) codes.push('decimals_wrong')
    if (limits.minOutputAmount * OTHER_UNIT <= quote.outputAmount) codes.push('limits_in_other_unit')
    const amounts = {
      gives: input.inTokens(quote.inputAmount),
      atMost: input.inTokens(limits.maxInputAmount),
      gets: output.inTokens(quote.outputAmount),
      atLeast: output.inTokens(limits.minOutputAmount),
    }
    const problems = codes.map((code) => ({ code, message: said[code] ?? explainForUser(code) }))
    return { terms, signed, problems, amounts }
  }
}

type Offer = z.output<z.ZodObject<typeof offer>>

function problemsOf(error: unknown): string[] {
  if (error instanceof QuoteVerificationError) return [...error.problems]
  throw error
}
