import { toFunctionSelector } from 'viem'
import { revertOf } from '../../../protocol/src/node/revert.js'
import { type Quote, toContractQuote } from '../../../protocol/src/quotes/quote.js'
import type { ChainBasics } from '../chain/chain-basics.js'
import { isNonceUsed, requestOf, settlementCall } from '../chain/contract.js'

/** Returns 1 for each call. In the place of a token, it has no say in what a simulation reverts with, and nothing comes from it. */
const INERT_TOKEN = '0x600160005260206000f3'
/** What a contract that keeps tokens reverts with before it looks for them, and one that gives them back after it. */
const ANSWERS: Readonly<Record<string, 'yes' | 'no'>> = {
  [toFunctionSelector('NothingDeposited(bytes32)')]: 'no',
  [toFunctionSelector('NonceAlreadyUsed()')]: 'yes',
  [toFunctionSelector('NonceAlreadyUsed(address,uint256)')]: 'yes',
}

/**
 * Knows what the contract of a chain does with tokens at deposit addresses. Some contracts keep them when the quote was cancelled, and
 * take `settle` only until the deposit deadline (docs/protocol.md, "Contract calls"). What is learnt is kept over restarts.
 */
export function createDepositAddresses({ chain, solver, state, time }: ChainBasics) {
  const name = `keeps tokens ${chain.chainId} ${chain.settlement}`
  let known = state.position(name)
  const keepsTokens = () => known !== 'no'

  return {
    /** True until it is known. */
    keepsTokens,
    /** The last second at which `settle` takes a quote; the later one until it is known. */
    lastSettle: ({ depositDeadline, fillDeadline }: Quote) =>
      known === 'yes' ? depositDeadline : fillDeadline,
    /**
     * Asks the contract by an own quote whose nonce is used. The input token is replaced: it could revert with an error of the contract.
     * @throws viem's errors
     */
    async learn(): Promise<void> {
      if (known !== undefined) return
      const past = state.endedQuotes(chain.chainId).find(({ quote }) => quote.fillDeadline < time.passed())
      if (past === undefined) return
      // Both at one block: where the nonce is not used yet, the refund succeeds at any contract.
      const at = time.atDepth(0)
      if (!(await isNonceUsed(chain, solver, past.quote.nonce, at))) return
      const refund = [toContractQuote(past.quote), past.signature] as const
      const call = settlementCall(chain, 'refundAddressDeposit', refund)
      const answer = await chain.client
        .call({
          ...requestOf(solver, call),
          ...at,
          stateOverride: [{ address: past.quote.inputToken, code: INERT_TOKEN }],
        })
        .then(
          // `null` is no answer of the contract.
          ({ data }) => (data === null ? undefined : ('no' as const)),
          (error) => ANSWERS[revertOf(error)?.data.slice(0, 10) ?? ''],
        )
      if (answer === undefined) return
      known = answer
      state.setPosition(name, answer)
    },
  }
}
