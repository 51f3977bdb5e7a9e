import { parseAbi } from 'viem'
import { QUOTE_MEMBERS } from '../../../src/domain/quote.js'

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
