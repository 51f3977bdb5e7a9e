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
import { addTool, ToolError } from '../tool.js'

const WRONG_DECIMALS = {
  code: 'decimals_wrong',
  message: 'The instance has named wrong decimals of a token of this offer. Take nothing from this instance.',
}

/** Checks of an offer by the owner's node, and the calls that take it. */
export function addOfferTools(server: McpServer, chains: OwnChains): void {
  addTool(server, 'verify_quote', {
    input: offer,
    output: { ok: z.boolean(), problems: rows },
    async run(given) {
      const { problems } = await check(given)
      return { ok: problems.length === 0, problems }
    },
  })

  addTool(server, 'build_transaction', {
    input: offer,
    output: { orderId: z.string(), from: z.string(), calls: rows },
    async run(given) {
      const { problems, terms, signed } = await check(given)
      const refusal = 'This offer must not be taken: there are no calls.'
      if (signed === undefined || problems.length > 0)
        throw new ToolError('OFFER_REFUSED', refusal, { problems })
      const calls = await depositCalls(signed, terms)
      return { chainId: given.chainId, from: given.quote.user, orderId: signed.orderId, calls }
    },
  })

  async function check({
    chainId,
    quote,
    solverSignature: signature,
    ...limits
  }: z.output<z.ZodObject<typeof offer>>) {
    const terms = await chains.terms(chainId)
    // The order id and the deposit address are those that the pinned contract computes, if any.
    const identity = identifyOffers(terms)(chainId, quote, signature)
    const signed = identity && { quote, signature, ...identity }
    const verified = signed
      ? verifyQuote(signed, { ...terms, limits })
      : Promise.reject(new QuoteVerificationError(['malformed']))
    const codes = await verified.then(() => [], problemsOf)
    const problems = codes.map((code) => ({ code: `${code}`, message: explainForUser(code) }))
    const isMisread = [quote.inputToken, quote.outputToken].some((token) => chains.isMisread(chainId, token))
    return { terms, signed, problems: isMisread ? [...problems, WRONG_DECIMALS] : problems }
  }
}

function problemsOf(error: unknown): QuoteVerificationError['problems'] {
  if (error instanceof QuoteVerificationError) return error.problems
  throw error
}
