/** Which offers of a quote the settlement contract checks (docs/decisions.md, D13); each mode has more work than the one before. */
export const VERIFY_MODES = ['off', 'best', 'all'] as const
export type VerifyMode = (typeof VERIFY_MODES)[number]

/** The errors with which contracts of this protocol refuse a quote; `src/chain/deposit-errors.ts` has their sources. */
export type ContractRefusal =
  | 'CallerNotUser'
  | 'DepositDeadlinePassed'
  | 'OrderBelowMinimum'
  | 'UnknownOrderType'
  | 'WrongOutputChain'
  | 'FillDeadlineBeforeDepositDeadline'
  | 'SignerNotSolver'
  | 'NonceAlreadyUsed'
  | 'ZeroAmount'
  | 'SolverNotRegistered'
  | 'InsufficientBond'
  | 'AmountNotReceived'
  | 'ECDSAInvalidSignature'
  | 'ECDSAInvalidSignatureLength'
  | 'ECDSAInvalidSignatureS'
  | 'ECDSA: invalid signature'
  | 'ECDSA: invalid signature length'
  | "ECDSA: invalid signature 's' value"
  | "ECDSA: invalid signature 'v' value"
  | 'InvalidSignature'
  | 'QuoteExpired'
  | 'OrderAlreadyExists'
  | 'BelowMinimumOrder'
  | 'InvalidQuote'
  | 'WrongChain'
  | 'FillDeadlineBeforeDeposit'

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
