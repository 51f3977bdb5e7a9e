import { parseAbi } from 'viem'
import { ORDER_TYPES, type Quote } from '../../../src/domain/quote.js'

/** The members of the contract's quote struct, in its order (docs/protocol.md, "Quote struct"). */
export const QUOTE_MEMBERS = [
  { name: 'solver', type: 'address' },
  { name: 'user', type: 'address' },
  { name: 'inputToken', type: 'address' },
  { name: 'inputAmount', type: 'uint256' },
  { name: 'outputToken', type: 'address' },
  { name: 'outputAmount', type: 'uint256' },
  { name: 'orderType', type: 'uint8' },
  { name: 'outputChainId', type: 'uint256' },
  { name: 'depositDeadline', type: 'uint32' },
  { name: 'fillDeadline', type: 'uint32' },
  { name: 'nonce', type: 'uint256' },
] as const

/** The user's call. The name of the struct is not part of the function's selector. */
export const depositAbi = [
  {
    type: 'function',
    name: 'deposit',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'quote', type: 'tuple', components: QUOTE_MEMBERS },
      { name: 'signature', type: 'bytes' },
    ],
    outputs: [],
  },
] as const

/** The constants of the contract. */
export const termsAbi = parseAbi([
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'function DEPOSIT_PROXY_CREATION_CODE_HASH() view returns (bytes32)',
])

/** The state of the contract. Not every deployment has the last two. */
export const stateAbi = parseAbi([
  'function solvers(address) view returns (uint256 totalBond, uint256 reservedBond, uint256 unstakeAmount, uint40 unstakeTimestamp, bool registered)',
  'function isNonceUsed(address solver, uint256 nonce) view returns (bool)',
  'function BOND_RESERVATION_BPS() view returns (uint256)',
  'function MIN_ORDER() view returns (uint256)',
])

/** A quote in the form of the contract. */
export function toContractQuote(quote: Quote) {
  return {
    ...quote,
    orderType: ORDER_TYPES.indexOf(quote.orderType),
    outputChainId: BigInt(quote.outputChainId),
  }
}
