import { parseAbi, parseAbiItem } from 'viem'
import { QUOTE_MEMBERS } from '../../../../src/domain/quote.js'

/** The name of the struct is not part of a function's selector. */
const SIGNED_QUOTE = [
  { name: 'quote', type: 'tuple', components: QUOTE_MEMBERS },
  { name: 'signature', type: 'bytes' },
] as const

/** What a solver reads and calls at the settlement contract (docs/protocol.md, "Contract calls"). */
export const settlementAbi = [
  ...parseAbi([
    'function orders(bytes32 orderId) view returns (address user, address solver, address inputToken, uint256 inputAmount, address outputToken, uint256 outputAmount, uint256 outputChainId, uint32 fillDeadline, uint8 state)',
    'function solvers(address solver) view returns (uint256 totalBond, uint256 reservedBond, uint256 unstakeAmount, uint40 unstakeTimestamp, bool registered)',
    'function BOND_RESERVATION_BPS() view returns (uint256)',
    'function MIN_ORDER() view returns (uint256)',
    'function isNonceUsed(address solver, uint256 nonce) view returns (bool)',
    'function fill(bytes32 orderId)',
    'function cancelNonce(uint256 nonce)',
    'function cancelNonces(uint248 word, uint256 mask)',
  ]),
  { type: 'function', name: 'settle', stateMutability: 'nonpayable', inputs: SIGNED_QUOTE, outputs: [] },
  {
    type: 'function',
    name: 'refundAddressDeposit',
    stateMutability: 'nonpayable',
    inputs: SIGNED_QUOTE,
    outputs: [],
  },
] as const

/** The contract's event for a deposit by a call. Deposits at an address have none. */
export const DEPOSITED = parseAbiItem(
  'event Deposited(bytes32 indexed orderId, address indexed user, address indexed solver, address inputToken, uint256 inputAmount, address outputToken, uint256 outputAmount, uint32 fillDeadline)',
)

/** ERC-20. */
export const TRANSFER = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
)

/** ERC-20. Some tokens return nothing from `approve`. */
export const tokenAbi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 amount)',
])
