import { encodeErrorResult, toFunctionSelector } from 'viem'
import type { Hex } from '../domain/hex.js'
import type { Quote } from '../domain/quote.js'
import type { ContractRefusal } from '../domain/verification.js'

/** An error of `deposit` whose meaning is known: the signature of a custom error, or the text of a `require`. */
interface KnownError {
  readonly error: string
  readonly source: string
  /** The member of the quote that must be the first argument. The error of another token or account means something else. */
  readonly of?: 'inputToken' | 'user'
}

interface KnownRefusal extends KnownError {
  readonly error: ContractRefusal | `${ContractRefusal}(${string})`
}

/** What a `require` with a text reverts with. */
const TEXT_ERROR = [{ type: 'error', name: 'Error', inputs: [{ type: 'string', name: 'text' }] }] as const

const REFERENCE = 'src/devnet/contracts/Settlement.sol'
const REFERENCE_BONDS = 'src/devnet/contracts/SolverBonds.sol'
const OPENZEPPELIN_ECDSA_5 = 'OpenZeppelin Contracts 5, ECDSA.sol'
const OPENZEPPELIN_ECDSA_4 = 'OpenZeppelin Contracts 4, ECDSA.sol'
const DEPLOYED = 'a deployed protocol of this interface'

/** Errors with which contracts of this protocol refuse a quote. Errors of other calls, such as `fill`, are left out. */
const REFUSALS: readonly KnownRefusal[] = [
  { error: 'CallerNotUser(address)', source: REFERENCE },
  { error: 'DepositDeadlinePassed(uint32)', source: REFERENCE },
  { error: 'OrderBelowMinimum(uint256,uint256)', source: REFERENCE },
  { error: 'UnknownOrderType(uint8)', source: REFERENCE },
  { error: 'WrongOutputChain(uint256)', source: REFERENCE },
  { error: 'FillDeadlineBeforeDepositDeadline(uint32,uint32)', source: REFERENCE },
  { error: 'SignerNotSolver(address)', source: REFERENCE },
  { error: 'NonceAlreadyUsed(address,uint256)', source: REFERENCE },
  { error: 'ZeroAmount()', source: REFERENCE_BONDS },
  { error: 'SolverNotRegistered(address)', source: REFERENCE_BONDS },
  { error: 'InsufficientBond(uint256,uint256)', source: REFERENCE_BONDS },
  // A token that takes a fee of each transfer: the contract refuses every deposit of it.
  { error: 'AmountNotReceived(address,uint256,uint256)', source: REFERENCE_BONDS, of: 'inputToken' },
  { error: 'ECDSAInvalidSignature()', source: OPENZEPPELIN_ECDSA_5 },
  { error: 'ECDSAInvalidSignatureLength(uint256)', source: OPENZEPPELIN_ECDSA_5 },
  { error: 'ECDSAInvalidSignatureS(bytes32)', source: OPENZEPPELIN_ECDSA_5 },
  { error: 'ECDSA: invalid signature', source: OPENZEPPELIN_ECDSA_4 },
  { error: 'ECDSA: invalid signature length', source: OPENZEPPELIN_ECDSA_4 },
  { error: "ECDSA: invalid signature 's' value", source: OPENZEPPELIN_ECDSA_4 },
  { error: "ECDSA: invalid signature 'v' value", source: `${OPENZEPPELIN_ECDSA_4} before 4.8` },
  { error: 'InvalidSignature()', source: DEPLOYED },
  { error: 'QuoteExpired()', source: DEPLOYED },
  { error: 'NonceAlreadyUsed()', source: DEPLOYED },
  { error: 'OrderAlreadyExists()', source: DEPLOYED },
  { error: 'InsufficientBond()', source: DEPLOYED },
  { error: 'SolverNotRegistered()', source: DEPLOYED },
  { error: 'BelowMinimumOrder()', source: DEPLOYED },
  { error: 'InvalidQuote()', source: DEPLOYED },
  { error: 'WrongChain()', source: DEPLOYED },
  { error: 'FillDeadlineBeforeDeposit()', source: DEPLOYED },
]

/**
 * Errors of a token, or of the library that calls it, when the user lacks allowance or balance. The contract has checked the
 * quote by then. Left out, because the contract itself may revert so for another reason:
 * - no data: WETH9, USDT, WBTC and other tokens from before Solidity 0.4.22, when the library passes it on;
 * - `Panic(0x11)`, an underflow: Solmate's ERC20;
 * - `InsufficientBalance()`: Solady's ERC20. It is a usual name for a bond that is too small.
 */
const TRANSFER_FAILURES: readonly KnownError[] = [
  {
    error: 'ERC20InsufficientAllowance(address,uint256,uint256)',
    source: 'OpenZeppelin Contracts 5, ERC20.sol',
  },
  {
    error: 'ERC20InsufficientBalance(address,uint256,uint256)',
    source: 'OpenZeppelin Contracts 5, ERC20.sol',
    of: 'user',
  },
  // The token returned false. `deposit` calls only the input token, and only `transferFrom`.
  {
    error: 'SafeERC20FailedOperation(address)',
    source: 'OpenZeppelin Contracts 5, SafeERC20.sol',
    of: 'inputToken',
  },
  { error: 'ERC20: insufficient allowance', source: 'OpenZeppelin Contracts 4.5, ERC20.sol' },
  {
    error: 'ERC20: transfer amount exceeds allowance',
    source: 'OpenZeppelin Contracts 2.3 to 4.4, ERC20.sol; USDC, FiatTokenV1.sol',
  },
  {
    error: 'ERC20: transfer amount exceeds balance',
    source: 'OpenZeppelin Contracts 2.3 to 4, ERC20.sol; USDC, FiatTokenV1.sol',
  },
  {
    error: 'SafeERC20: ERC20 operation did not succeed',
    source: 'OpenZeppelin Contracts 3 and 4, SafeERC20.sol: the token returned false',
  },
  {
    error: 'SafeERC20: low-level call failed',
    source: 'OpenZeppelin Contracts 3 and 4, SafeERC20.sol: the token reverted without data',
  },
  { error: 'TRANSFER_FROM_FAILED', source: 'Solmate, SafeTransferLib.sol' },
  { error: 'TransferFromFailed()', source: 'Solady, SafeTransferLib.sol' },
  { error: 'InsufficientAllowance()', source: 'Solady, ERC20.sol' },
  { error: 'Dai/insufficient-allowance', source: 'DAI, dai.sol' },
  { error: 'Dai/insufficient-balance', source: 'DAI, dai.sol' },
  { error: 'Usds/insufficient-allowance', source: 'USDS, Usds.sol' },
  { error: 'Usds/insufficient-balance', source: 'USDS, Usds.sol' },
  { error: 'ds-token-insufficient-approval', source: 'MKR, ds-token, token.sol' },
  { error: 'ds-token-insufficient-balance', source: 'MKR, ds-token, token.sol' },
  { error: 'Uni::transferFrom: transfer amount exceeds spender allowance', source: 'UNI, Uni.sol' },
  { error: 'Uni::_transferTokens: transfer amount exceeds balance', source: 'UNI, Uni.sol' },
  { error: 'Comp::transferFrom: transfer amount exceeds spender allowance', source: 'COMP, Comp.sol' },
  { error: 'Comp::_transferTokens: transfer amount exceeds balance', source: 'COMP, Comp.sol' },
  { error: 'ALLOWANCE_EXCEEDED', source: 'stETH, StETH.sol' },
  { error: 'BALANCE_EXCEEDED', source: 'stETH, StETH.sol' },
  { error: 'Insufficient allowance', source: `the tokens of ${DEPLOYED}` },
  { error: 'Insufficient balance', source: `the tokens of ${DEPLOYED}` },
]

/** What a listed error says of a quote. The name of a refusal has no arguments and never comes from the chain. */
export type DepositError =
  | { readonly kind: 'refusal'; readonly name: ContractRefusal }
  | { readonly kind: 'transfer_failure' }

interface Row extends Pick<KnownError, 'of'> {
  readonly meaning: DepositError
}

const ROWS = new Map<Hex, Row>([
  ...REFUSALS.map((known) => rowOf(known, { kind: 'refusal', name: nameOf(known) })),
  ...TRANSFER_FAILURES.map((known) => rowOf(known, { kind: 'transfer_failure' })),
])
const LONGEST_KEY = Math.max(...[...ROWS.keys()].map(({ length }) => length))
const SELECTOR_LENGTH = 10
/** `0x`, the selector, and the zeros before an address. */
const ADDRESS_START = SELECTOR_LENGTH + 24

/**
 * Finds the error with which `deposit` reverted (docs/decisions.md, D13). Texts count only when they are the same to the last
 * character.
 * @param data the revert data in lower case
 * @returns undefined for an error that is not listed
 */
export function depositErrorOf(
  data: Hex,
  quote: Pick<Quote, 'inputToken' | 'user'>,
): DepositError | undefined {
  const text = data.length <= LONGEST_KEY ? ROWS.get(data) : undefined
  const row = text ?? ROWS.get(data.slice(0, SELECTOR_LENGTH) as Hex)
  if (row?.of && !data.startsWith(quote[row.of].slice(2), ADDRESS_START)) return undefined
  return row?.meaning
}

function rowOf({ error, of }: KnownError, meaning: DepositError): [Hex, Row] {
  return [keyOf(error), of ? { meaning, of } : { meaning }]
}

/** The selector of a custom error; all bytes of a text, as Solidity encodes it. */
function keyOf(error: string): Hex {
  return isCustom(error) ? toFunctionSelector(error) : encodeErrorResult({ abi: TEXT_ERROR, args: [error] })
}

function nameOf({ error }: KnownRefusal): ContractRefusal {
  return (isCustom(error) ? error.slice(0, error.indexOf('(')) : error) as ContractRefusal
}

function isCustom(error: string): boolean {
  return error.endsWith(')')
}
