import type { ContractRefusal, UnknownReason } from './verification.js'

/** Whether an offer can still be deposited (docs/decisions.md, D33). */
export type OfferState = 'VALID' | 'TAKEN' | 'DEAD' | 'UNKNOWN'

/** Why an offer is dead. NONCE_USED: used by an order or cancelled, the contract does not say which. */
export const DEAD_CODES = [
  'EXPIRED',
  'NONCE_USED',
  'BOND_TOO_SMALL',
  'BELOW_MINIMUM_ORDER',
  'SIGNATURE_INVALID',
  'REFUSED',
] as const
export type DeadCode = (typeof DEAD_CODES)[number]

/** What the settlement contract says of an offer. */
export type OfferVerdict =
  | { readonly state: 'VALID' | 'TAKEN' }
  | { readonly state: 'DEAD'; readonly code: Exclude<DeadCode, 'REFUSED'> }
  /** With the name of the contract's error. */
  | { readonly state: 'DEAD'; readonly code: 'REFUSED'; readonly refusal: ContractRefusal }
  | { readonly state: 'UNKNOWN'; readonly reason: UnknownReason }

/** The errors of the contracts by their code; all others are REFUSED. */
const CODES: Readonly<Partial<Record<ContractRefusal, Exclude<DeadCode, 'REFUSED'>>>> = {
  DepositDeadlinePassed: 'EXPIRED',
  QuoteExpired: 'EXPIRED',
  NonceAlreadyUsed: 'NONCE_USED',
  InsufficientBond: 'BOND_TOO_SMALL',
  OrderBelowMinimum: 'BELOW_MINIMUM_ORDER',
  BelowMinimumOrder: 'BELOW_MINIMUM_ORDER',
  SignerNotSolver: 'SIGNATURE_INVALID',
  InvalidSignature: 'SIGNATURE_INVALID',
  ECDSAInvalidSignature: 'SIGNATURE_INVALID',
  ECDSAInvalidSignatureLength: 'SIGNATURE_INVALID',
  ECDSAInvalidSignatureS: 'SIGNATURE_INVALID',
  'ECDSA: invalid signature': 'SIGNATURE_INVALID',
  'ECDSA: invalid signature length': 'SIGNATURE_INVALID',
  "ECDSA: invalid signature 's' value": 'SIGNATURE_INVALID',
  "ECDSA: invalid signature 'v' value": 'SIGNATURE_INVALID',
}

/** What an error of `deposit` says of an offer whose order does not exist. */
export function verdictOfRefusal(refusal: ContractRefusal): OfferVerdict {
  if (refusal === 'OrderAlreadyExists') return { state: 'TAKEN' }
  const code = CODES[refusal]
  return code === undefined ? { state: 'DEAD', code: 'REFUSED', refusal } : { state: 'DEAD', code }
}
