import type { MessageInitShape } from '@bufbuild/protobuf'
import type { QuoteSchema } from '../../../gen/aggregator/v1/quote_pb.js'
import type { SolverSchema } from '../../../gen/aggregator/v1/solver_pb.js'
import { ORDER_TYPES, type Quote, type SignedQuote } from '../../domain/quotes/quote.js'
import type { Solver } from '../../domain/solvers/solver.js'
import { toCachedChecksumAddress, toChecksumAddress } from '../../signing/checksum.js'

/** The name of a word in an enum of the protos. */
export function toUpperCase<Word extends string>(word: Word): Uppercase<Word> {
  return word.toUpperCase() as Uppercase<Word>
}

/** Words by their numbers in an enum of the protos. */
export function byNumber<Word extends string>(
  words: readonly Word[],
  numbers: Readonly<Record<Uppercase<Word>, number>>,
): Readonly<Record<number, Word>> {
  return Object.fromEntries(words.map((word) => [numbers[toUpperCase(word)], word]))
}

/** The message of a signed quote, with addresses in EIP-55 form (docs/decisions.md, D3). */
export function toSignedQuoteMessage(signed: SignedQuote) {
  return {
    quote: toQuoteMessage(signed.quote),
    solverSignature: signed.signature,
    depositAddress: toChecksumAddress(signed.depositAddress),
    orderId: signed.orderId,
    verified: signed.verified,
  }
}

/** The message of a solver, with its public fields only. */
export function toSolverMessage(solver: Solver): MessageInitShape<typeof SolverSchema> {
  return {
    address: toCachedChecksumAddress(solver.address),
    name: solver.name,
    registeredAt: BigInt(solver.registeredAt),
  }
}

function toQuoteMessage(quote: Quote): MessageInitShape<typeof QuoteSchema> {
  return {
    solver: toCachedChecksumAddress(quote.solver),
    user: toCachedChecksumAddress(quote.user),
    inputToken: toCachedChecksumAddress(quote.inputToken),
    inputAmount: quote.inputAmount.toString(),
    outputToken: toCachedChecksumAddress(quote.outputToken),
    outputAmount: quote.outputAmount.toString(),
    orderType: ORDER_TYPES.indexOf(quote.orderType),
    outputChainId: BigInt(quote.outputChainId),
    depositDeadline: quote.depositDeadline,
    fillDeadline: quote.fillDeadline,
    nonce: quote.nonce.toString(),
  }
}
