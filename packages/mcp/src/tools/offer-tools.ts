import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import {
  depositCalls,
  explainForUser,
  identifyOffers,
  QuoteVerificationError,
  type SettlementTerms,
  type SignedQuote,
  verifyQuote,
} from '../../../client/src/index.js'
import type { McpParts } from '../mcp-parts.js'
import { offer, rows } from '../schemas.js'
import { addTool, ToolError } from '../tool.js'

type Offer = z.output<z.ZodObject<typeof offer>>

/** A problem of an offer: its code, and a sentence for the owner. */
interface Problem {
  readonly code: string
  readonly message: string
}

const WRONG_DECIMALS: Problem = {
  code: 'decimals_wrong',
  message: 'The instance has named wrong decimals of a token of this offer. Take nothing from this instance.',
}

/** Checks of an offer by the owner's node, and the calls that take it. */
export function addOfferTools(server: McpServer, { chains, decimals }: McpParts): void {
  addTool(server, 'verify_quote', {
    input: offer,
    output: {
      ok: z.boolean(),
      problems: rows,
    },
    async run(given) {
      const { problems } = await check(given)
      return { ok: problems.length === 0, problems }
    },
  })

  addTool(server, 'build_transaction', {
    input: offer,
    output: {
      orderId: z.string(),
      from: z.string(),
      calls: rows,
    },
    async run(given) {
      const { problems, terms, signed } = await check(given)
      if (signed === undefined || problems.length > 0)
        throw new ToolError('OFFER_REFUSED', 'This offer must not be taken: there are no calls.', {
          problems,
        })
      const calls = await depositCalls(signed, terms)
      return { chainId: given.chainId, from: given.quote.user, orderId: signed.orderId, calls }
    },
  })

  async function check(given: Offer) {
    const { chainId, quote, maxInputAmount, minOutputAmount } = given
    const terms = await chains.terms(chainId)
    const signed = toSigned(terms, given)
    const problems = await findProblems(signed, { ...terms, limits: { maxInputAmount, minOutputAmount } })
    const isWrong = decimals.areWrong(chainId, quote.inputToken, quote.outputToken)
    return { terms, signed, problems: isWrong ? [...problems, WRONG_DECIMALS] : problems }
  }
}

/** The offer with the order id and the deposit address that the pinned contract computes; undefined when it computes none. */
function toSigned(terms: SettlementTerms, { chainId, quote, solverSignature: signature }: Offer) {
  const identity = identifyOffers(terms)(chainId, quote, signature)
  return identity && { quote, signature, ...identity }
}

async function findProblems(
  signed: SignedQuote | undefined,
  options: Parameters<typeof verifyQuote>[1],
): Promise<Problem[]> {
  try {
    if (signed === undefined) throw new QuoteVerificationError(['malformed'])
    await verifyQuote(signed, options)
    return []
  } catch (error) {
    if (!(error instanceof QuoteVerificationError)) throw error
    return error.problems.map((code) => ({ code, message: explainForUser(code) }))
  }
}
