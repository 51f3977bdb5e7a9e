import {
  type Address,
  type Client,
  decodeFunctionResult,
  erc20Abi,
  getAddress,
  type Hex,
  hexToString,
  size,
} from 'viem'
import { DECIMALS as RULE } from '../../../protocol/src/field-rules.js'
import { findView, readView } from '../../../protocol/src/node/read-view.js'
import type { View } from '../../../protocol/src/settlement/settlement.js'
import { lowerCase } from '../../../protocol/src/values/hex.js'
import { addressProblem, check } from '../calls/check-arguments.js'
import type { Token } from './list-chains.js'

/** `symbol()` and `decimals()`: neither has arguments. */
const SYMBOL: View<string> = { name: 'symbol', data: '0x95d89b41', decode: textIn }
const DECIMALS: View<number> = { name: 'decimals', data: '0x313ce567', decode: decimalsIn }
const WORD_BYTES = 32

/**
 * Reads a token from its contract, through a node that the user trusts. Decimals that decide about money come from here or from the app:
 * those of an instance are for display.
 * @returns the token; the symbol is undefined when the contract has none
 * @throws ChainReadError when the node fails, or the contract has no decimals that fit ERC-20; AggregatorError for an address that is none
 */
export async function readToken(
  { request }: Pick<Client, 'request'>,
  address: Address,
): Promise<Token & { readonly decimals: number }> {
  check({ address: addressProblem(address) })
  const token = lowerCase(address)
  const [decimals, symbol] = await Promise.all([
    readView(request, token, DECIMALS),
    findView(request, token, SYMBOL),
  ])
  return { address: getAddress(token), symbol: symbol || undefined, decimals }
}

/** ERC-20 has a `uint8`. With more, a page that formats an amount would not end. */
function decimalsIn(data: Hex): number {
  const decimals = decodeFunctionResult({ abi: erc20Abi, functionName: 'decimals', data })
  if (decimals > RULE.maximum) throw new Error(RULE.mustBe)
  return decimals
}

/** Old tokens have 32 bytes in place of a text. */
function textIn(data: Hex): string {
  if (size(data) === WORD_BYTES) return hexToString(data, { size: WORD_BYTES })
  return decodeFunctionResult({ abi: erc20Abi, functionName: 'symbol', data })
}
