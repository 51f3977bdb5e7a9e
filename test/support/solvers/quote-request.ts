import { type TestChain, user } from '../chain/chain.js'

/** The body of a quote request: sell 1 WETH for USDC, deposited at the contract. */
export function quoteRequest({ chainId, contracts }: TestChain) {
  return {
    inputToken: contracts.weth,
    outputToken: contracts.usdc,
    orderType: 'EXACT_INPUT',
    amount: '1000000000000000000',
    userAddress: user.address,
    originChainId: chainId,
    destinationChainId: chainId,
    depositMode: 'CONTRACT',
  }
}
