import type { Address, Hex } from '../values/hex.js'

/** Why a solver makes no offer on its session (docs/decisions.md, D18). */
export const DECLINE_CODES = [
  'UNSUPPORTED_PAIR',
  'AMOUNT_TOO_SMALL',
  'AMOUNT_TOO_LARGE',
  'INSUFFICIENT_LIQUIDITY',
  'PAUSED',
  'OTHER',
] as const

export type DeclineCode = (typeof DECLINE_CODES)[number]

/** What a solver signs to open a session. */
export interface SessionText {
  /** In any letter case. */
  readonly address: Address
  readonly name: string
  /** The origin that the solver was configured to dial. */
  readonly audience: string
  /** In any order. */
  readonly chainIds: readonly number[]
  /** The challenge's nonce: 32 bytes. */
  readonly nonce: Hex
}

/** A session that a solver opens: its chains count as registrations while it lasts. */
export interface SessionRegistration {
  /** A UUID. */
  readonly sessionId: string
  readonly address: Address
  readonly name: string
  readonly chainIds: readonly number[]
}
