/** Which offers of a quote the settlement contract checks (docs/decisions.md, D13); each mode has more work than the one before. */
export const VERIFY_MODES = ['off', 'best', 'all'] as const
export type VerifyMode = (typeof VERIFY_MODES)[number]

/**
 * The errors with which contracts of this protocol refuse a quote: signatures of custom errors, and texts of a `require`. Errors of other
 * calls, such as `fill`, are left out.
 */
export const CONTRACT_REFUSALS = [
  // packages/cli/contracts/Settlement.sol
  'CallerNotUser(address)',
  'DepositDeadlinePassed(uint32)',
  'OrderBelowMinimum(uint256,uint256)',
  'UnknownOrderType(uint8)',
  'WrongOutputChain(uint256)',
  'FillDeadlineBeforeDepositDeadline(uint32,uint32)',
  'SignerNotSolver(address)',
  'NonceAlreadyUsed(address,uint256)',
  // packages/cli/contracts/SolverBonds.sol
  'ZeroAmount()',
  'SolverNotRegistered(address)',
  'InsufficientBond(uint256,uint256)',
  // A token that takes a fee of each transfer: the contract refuses every deposit of it.
  'AmountNotReceived(address,uint256,uint256)',
  // OpenZeppelin Contracts 5, ECDSA.sol
  'ECDSAInvalidSignature()',
  'ECDSAInvalidSignatureLength(uint256)',
  'ECDSAInvalidSignatureS(bytes32)',
  // OpenZeppelin Contracts 4, ECDSA.sol
  'ECDSA: invalid signature',
  'ECDSA: invalid signature length',
  "ECDSA: invalid signature 's' value",
  // OpenZeppelin Contracts 4, ECDSA.sol before 4.8
  "ECDSA: invalid signature 'v' value",
  // A deployed protocol of this interface
  'InvalidSignature()',
  'QuoteExpired()',
  'NonceAlreadyUsed()',
  'OrderAlreadyExists()',
  'InsufficientBond()',
  'SolverNotRegistered()',
  'BelowMinimumOrder()',
  'InvalidQuote()',
  'WrongChain()',
  'FillDeadlineBeforeDeposit()',
] as const

type NameOf<E extends string> = E extends `${infer N}(${string}` ? N : E

/** The name of such an error, or its text. */
export type ContractRefusal = NameOf<(typeof CONTRACT_REFUSALS)[number]>

/** Whether the settlement contract would accept the deposit of an offer. */
export type DepositVerdict =
  /** The contract accepts the quote. The deposit succeeds, or lacks only the user's allowance or balance. */
  | { readonly kind: 'accepted' }
  /** The contract refuses the quote. */
  | { readonly kind: 'rejected'; readonly error: ContractRefusal }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason }

/** Why the contract's answer is not known. */
export type UnknownReason =
  /** The time of the checks was over, or the caller left. */
  | 'timeout'
  /** As many checks are under way, or were made in this second, as the chain may have. */
  | 'over_budget'
  /** No endpoint answered. */
  | 'no_answer'
  /** The node returned an error of its own. */
  | 'node_error'
  /** The answer is longer than any revert of a contract that is known. */
  | 'answer_too_long'
  /** The call reverted without data, so its reason is not known. */
  | 'empty_revert'
  /** The call reverted with data that is not in the list. */
  | 'unlisted_revert'
