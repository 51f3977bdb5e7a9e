import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  type CheckOfferResponseSchema,
  OfferState,
  type Quote as QuoteMessage,
  QuoteService,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { EMPTY_QUOTE } from '../../../packages/chain/src/contract/protocol-name.js'
import { chainNotSupported } from '../../../packages/protocol/src/errors.js'
import { CHAIN_ID } from '../../../packages/protocol/src/field-rules.js'
import { ORDER_TYPES, type Quote } from '../../../packages/protocol/src/quotes/quote.js'
import { checkSignature } from '../../../packages/protocol/src/signing/signatures.js'
import type { QuoteHasher } from '../../../packages/protocol/src/signing/typed-data.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { OfferCheck, OfferToCheck } from '../../chain/verification/offer-check.js'
import { createSharedResults } from '../../concurrency/shared-results.js'
import type { Fields } from '../fields.js'
import { type Method, unaryMethod } from '../method.js'
import type { ServiceContext } from './context.js'
import { expiresAtOf } from './quote-service.js'

/** The contract's numbers of order types. */
const ORDER_NUMBERS = [...ORDER_TYPES.keys()]
/** How long equal calls share one answer. A caller that comes beyond the budget is told to come again after this time. */
const SHARED_MS = 1000
/** Checks that are shared. */
const MAX_SHARED = 4096

/** The method CheckOffer (docs/decisions.md, D33). */
export function createCheckOfferMethod({ chains, config, clock }: ServiceContext): Method {
  const shared = createSharedResults<OfferCheck>(MAX_SHARED, clock, () => SHARED_MS)

  return unaryMethod(QuoteService.method.checkOffer, {
    limit: 'quote',
    read: ({ chainId, quote, solverSignature }, fields) => ({
      chainId: Number(chainId),
      quote: readQuote(quote, fields),
      signature: fields.signature('solverSignature', solverSignature).toLowerCase() as Hex,
    }),
    async handle({ chainId, quote, signature }) {
      const chain = chains.get(chainId)
      if (chain === undefined) throw chainNotSupported(chainId, [...chains.keys()])
      const offer = toOffer(quote, signature, chain.quoteHasher())
      const { verdict, block } = await shared.get(`${chainId} ${offer.orderId}`, () =>
        chain.checkOffer(offer, clock.timeoutSignal(config.quoteTimeoutMs)),
      )
      return {
        ...toMessage(verdict),
        orderId: offer.orderId,
        block: block && BigInt(block.number),
        blockTime: block && BigInt(block.time),
        expiresAt: expiresAtOf(quote),
        serverTime: BigInt(clock.now()),
      }
    },
  })
}

function toOffer(quote: Quote, signature: Hex, hasher: QuoteHasher): OfferToCheck {
  const bytes = Buffer.from(signature.slice(2), 'hex')
  const { structHash, digest } = hasher.hash(quote)
  const { orderId } = hasher.identify(structHash, bytes)
  const isSigned = checkSignature(digest, bytes, quote.solver) === undefined
  return { quote, signature, orderId, isSigned }
}

function toMessage(verdict: OfferCheck['verdict']): MessageInitShape<typeof CheckOfferResponseSchema> {
  const state = OfferState[verdict.state]
  switch (verdict.state) {
    case 'DEAD':
      return { state, code: verdict.code, ...(verdict.code === 'REFUSED' && { refusal: verdict.refusal }) }
    case 'UNKNOWN':
      return { state, ...(verdict.reason === 'over_budget' && { retryAfterMs: SHARED_MS }) }
    default:
      return { state }
  }
}

/** Reads the members of a quote. The contract has the last word on their values. */
function readQuote(message: QuoteMessage | undefined, fields: Fields): Quote {
  if (message === undefined) {
    fields.addViolation('quote', 'must be the quote of an offer')
    return EMPTY_QUOTE
  }
  const { depositDeadline, fillDeadline } = message
  return {
    solver: fields.address('quote.solver', message.solver),
    user: fields.address('quote.user', message.user),
    inputToken: fields.address('quote.inputToken', message.inputToken),
    inputAmount: fields.amount('quote.inputAmount', message.inputAmount),
    outputToken: fields.address('quote.outputToken', message.outputToken),
    outputAmount: fields.amount('quote.outputAmount', message.outputAmount),
    orderType: fields.oneOf('quote.orderType', BigInt(message.orderType), ORDER_NUMBERS)
      ? 'EXACT_OUTPUT'
      : 'EXACT_INPUT',
    outputChainId: fields.integer('quote.outputChainId', message.outputChainId, CHAIN_ID),
    depositDeadline,
    fillDeadline,
    nonce: fields.uint256('quote.nonce', message.nonce),
  }
}
