import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ApprovalSchema, CallSchema } from '../../../gen/aggregator/v1/quote_pb.js'
import type { DepositMode, SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import { approveData, transferData } from '../../../packages/protocol/src/settlement/token-calls.js'
import { toCachedChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import type { ChainConfig } from '../../config/chains.js'

/** The fields of an offer that say what the user's wallet sends. */
export interface CallsMessage {
  readonly calls: MessageInitShape<typeof CallSchema>[]
  readonly approval?: MessageInitShape<typeof ApprovalSchema>
}

/**
 * The calls by which the user takes an offer, and the allowance that they need (docs/decisions.md, D28). Nothing is read for them.
 */
export function toCallsMessage(
  { quote, signature, depositAddress }: SignedQuote,
  depositMode: DepositMode,
  { chainId, settlement }: ChainConfig,
): CallsMessage {
  const { inputToken, inputAmount } = quote
  if (depositMode === 'ADDRESS')
    return { calls: [toCall(inputToken, transferData(depositAddress, inputAmount))] }
  return {
    calls: [
      toCall(inputToken, approveData(settlement, inputAmount)),
      toCall(settlement, settlementOf(chainId).depositData(quote, signature)),
    ],
    approval: {
      token: toCachedChecksumAddress(inputToken),
      spender: toCachedChecksumAddress(settlement),
      amount: inputAmount.toString(),
    },
  }
}

function toCall(to: Address, data: Hex) {
  return { to: toCachedChecksumAddress(to), data, value: '0x0' }
}
