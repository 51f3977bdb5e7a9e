import { encodeErrorResult, toFunctionSelector } from 'viem'
import { revertOf } from '../../../packages/protocol/src/node/revert.js'
import type { Quote } from '../../../packages/protocol/src/quotes/quote.js'
import {
  CONTRACT_REFUSALS,
  type ContractRefusal,
  type DepositVerdict,
  type UnknownReason,
} from '../../../packages/protocol/src/quotes/verification.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { RpcAnswer } from './verification-endpoint.js'

/**
 * An error of `deposit` whose meaning is known: the signature of a custom error, or the text of a `require`. With it the member of the quote
 * that must be the first argument, where the error of another token or account means something else.
 */
type KnownError = readonly [error: string, of?: 'inputToken' | 'user']

/** What a `require` with a text reverts with. */
const TEXT_ERROR = [{ type: 'error', name: 'Error', inputs: [{ type: 'string', name: 'text' }] }] as const

/** The contract refuses every deposit of a token that takes a fee. The error of another token means something else. */
const OF_INPUT_TOKEN = 'AmountNotReceived(address,uint256,uint256)'

/**
 * Errors of a token, or of the library that calls it, when the user lacks allowance or balance. The contract has checked the
 * quote by then. Left out, because the contract itself may revert so for another reason:
 * - no data: WETH9, USDT, WBTC and other tokens from before Solidity 0.4.22, when the library passes it on;
 * - `Panic(0x11)`, an underflow: Solmate's ERC20;
 * - `InsufficientBalance()`: Solady's ERC20. It is a usual name for a bond that is too small.
 */
const TRANSFER_FAILURES: readonly KnownError[] = [
  // OpenZeppelin Contracts 5, ERC20.sol
  ['ERC20InsufficientAllowance(address,uint256,uint256)'],
  ['ERC20InsufficientBalance(address,uint256,uint256)', 'user'],
  // OpenZeppelin Contracts 5, SafeERC20.sol: the token returned false. `deposit` calls only the input token, and only `transferFrom`.
  ['SafeERC20FailedOperation(address)', 'inputToken'],
  // OpenZeppelin Contracts 4.5, ERC20.sol
  ['ERC20: insufficient allowance'],
  // OpenZeppelin Contracts 2.3 to 4.4, ERC20.sol; USDC, FiatTokenV1.sol
  ['ERC20: transfer amount exceeds allowance'],
  // OpenZeppelin Contracts 2.3 to 4, ERC20.sol; USDC, FiatTokenV1.sol
  ['ERC20: transfer amount exceeds balance'],
  // OpenZeppelin Contracts 3 and 4, SafeERC20.sol: the token returned false
  ['SafeERC20: ERC20 operation did not succeed'],
  // OpenZeppelin Contracts 3 and 4, SafeERC20.sol: the token reverted without data
  ['SafeERC20: low-level call failed'],
  // Solmate, SafeTransferLib.sol
  ['TRANSFER_FROM_FAILED'],
  // Solady, SafeTransferLib.sol
  ['TransferFromFailed()'],
  // Solady, ERC20.sol
  ['InsufficientAllowance()'],
  // DAI, dai.sol
  ['Dai/insufficient-allowance'],
  ['Dai/insufficient-balance'],
  // USDS, Usds.sol
  ['Usds/insufficient-allowance'],
  ['Usds/insufficient-balance'],
  // MKR, ds-token, token.sol
  ['ds-token-insufficient-approval'],
  ['ds-token-insufficient-balance'],
  // UNI, Uni.sol
  ['Uni::transferFrom: transfer amount exceeds spender allowance'],
  ['Uni::_transferTokens: transfer amount exceeds balance'],
  // COMP, Comp.sol
  ['Comp::transferFrom: transfer amount exceeds spender allowance'],
  ['Comp::_transferTokens: transfer amount exceeds balance'],
  // stETH, StETH.sol
  ['ALLOWANCE_EXCEEDED'],
  ['BALANCE_EXCEEDED'],
  // The tokens of a deployed protocol of this interface
  ['Insufficient allowance'],
  ['Insufficient balance'],
]

/** What a listed error says of a quote. The name of a refusal has no arguments and never comes from the chain. */
export type DepositError =
  | { readonly kind: 'refusal'; readonly name: ContractRefusal }
  | { readonly kind: 'transfer_failure' }

interface Row {
  readonly meaning: DepositError
  readonly of: KnownError[1]
}

const ROWS = new Map<Hex, Row>([
  ...CONTRACT_REFUSALS.map((error) =>
    rowOf(error === OF_INPUT_TOKEN ? [error, 'inputToken'] : [error], {
      kind: 'refusal',
      name: nameOf(error),
    }),
  ),
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

/** What the contract's answer to a call of `deposit` says of the quote. */
export function verdictOf(answer: RpcAnswer, quote: Pick<Quote, 'inputToken' | 'user'>): DepositVerdict {
  if ('result' in answer) return isReturnValue(answer.result) ? { kind: 'accepted' } : unknown('node_error')
  const revert = revertOf(answer.error)
  if (revert === undefined) return unknown('node_error')
  if (revert.data === '0x') return unknown('empty_revert')
  const known = depositErrorOf(revert.data, quote)
  if (known === undefined) return unknown('unlisted_revert')
  return known.kind === 'refusal' ? { kind: 'rejected', error: known.name } : { kind: 'accepted' }
}

/** Return values have whole words of 32 bytes. An error has a selector more, so that a node that returns it as a result is found. */
function isReturnValue(result: unknown): boolean {
  return typeof result === 'string' && /^0x([0-9a-f]{64})*$/i.test(result)
}

/** The verdict when the contract's answer is not known. */
export function unknown(reason: UnknownReason): DepositVerdict {
  return { kind: 'unknown', reason }
}

function rowOf([error, of]: KnownError, meaning: DepositError): [Hex, Row] {
  return [keyOf(error), { meaning, of }]
}

/** The selector of a custom error; all bytes of a text, as Solidity encodes it. */
function keyOf(error: string): Hex {
  return isCustom(error) ? toFunctionSelector(error) : encodeErrorResult({ abi: TEXT_ERROR, args: [error] })
}

function nameOf(error: string): ContractRefusal {
  return (isCustom(error) ? error.slice(0, error.indexOf('(')) : error) as ContractRefusal
}

function isCustom(error: string): boolean {
  return error.endsWith(')')
}
