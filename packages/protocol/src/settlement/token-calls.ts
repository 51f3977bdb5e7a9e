import { encodeFunctionData, erc20Abi } from 'viem'
import type { Address, Hex } from '../values/hex.js'

/** The data of a token's `approve`. @param amount in the token's smallest unit */
export function approveData(spender: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })
}

/** The data of a token's `transfer`. @param amount in the token's smallest unit */
export function transferData(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
}
