import { erc20Abi, type PublicClient } from 'viem'
import { readView } from '../../../protocol/src/node/read-view.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import type { ContractPlace } from './verify-contract.js'

/** Reads the token of bonds. @throws ChainReadError, and viem's errors of a token without symbol or decimals */
export async function readBondToken(client: PublicClient, { chainId, settlement }: ContractPlace) {
  const token = await readView(client.request, settlement, settlementOf(chainId).bondToken())
  const [symbol, decimals] = await Promise.all([
    client.readContract({ address: token, abi: erc20Abi, functionName: 'symbol' }),
    client.readContract({ address: token, abi: erc20Abi, functionName: 'decimals' }),
  ])
  return { token, symbol, decimals }
}
