import { type Address, maxUint256 } from 'viem'
import { readView } from '../../../protocol/src/node/read-view.js'
import { allowance } from '../../../protocol/src/settlement/token-calls.js'
import type { SettlementTerms } from '../offers/settlement-terms.js'
import { planBatch } from './wallet-batch.js'
import type { DepositWallet } from './wallet-transaction.js'

/**
 * Reads how much of a token the user deposits at the contract with one prompt: any amount where the wallet sends batches
 * (EIP-5792), else the allowance. Ask for quotes of at most that with a `minDepositWindow` of 60, and for others without it.
 * It asks the user nothing.
 * @param settlement the result of `readSettlement`
 * @returns the amount in the token's smallest unit, at most 2^256-1
 * @throws ChainReadError and viem's errors when the node does not answer
 */
export async function readOnePrompt(
  wallet: DepositWallet,
  token: Address,
  { client, chainId, settlement }: Pick<SettlementTerms, 'client' | 'chainId' | 'settlement'>,
): Promise<bigint> {
  const batch = await planBatch(wallet, chainId, [])
  const allowed = allowance(wallet.account.address, settlement)
  return batch ? maxUint256 : readView(client.request, token, allowed)
}
