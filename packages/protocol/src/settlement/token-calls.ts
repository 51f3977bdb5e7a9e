import { type EncodeFunctionDataParameters, encodeFunctionData, erc20Abi } from 'viem'
import type { Address, Hex } from '../values/hex.js'
import type { View } from './settlement.js'

/** Where the first word of data ends: after 0x and 32 bytes. */
const WORD_END = 66

/** The data of a token's `approve`. @param amount in the token's smallest unit */
export function approveData(spender: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })
}

/** The data of a token's `transfer`. @param amount in the token's smallest unit */
export function transferData(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
}

/** The view `balanceOf` of a token: in its smallest unit. */
export function balanceOf(holder: Address): View<bigint> {
  return tokenView('balanceOf', [holder])
}

/** The view `allowance` of a token: in its smallest unit. */
export function allowance(owner: Address, spender: Address): View<bigint> {
  return tokenView('allowance', [owner, spender])
}

function tokenView(name: 'balanceOf' | 'allowance', args: readonly Address[]): View<bigint> {
  return {
    name,
    data: encodeFunctionData({ abi: erc20Abi, functionName: name, args } as EncodeFunctionDataParameters),
    decode: (data) => BigInt(data.slice(0, WORD_END)),
  }
}
