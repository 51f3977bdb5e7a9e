/** What a settlement contract demands of every order; undefined where it has no such view (docs/protocol.md, "Contract views"). */
export interface SettlementTerms {
  /** `BOND_RESERVATION_BPS()`: the part of `outputAmount` that a free bond must cover, in hundredths of a percent. */
  readonly bondReservationBps: bigint | undefined
  /** `MIN_ORDER()`: the least `outputAmount`, in the output token's smallest unit. */
  readonly minOrder: bigint | undefined
}

const BPS_OF_ALL = 10_000n

/** The bond that an order takes, rounded down as the contract's `mulDiv` does; in the bond token's smallest unit. */
export function bondFor(outputAmount: bigint, reservationBps: bigint): bigint {
  return (outputAmount * reservationBps) / BPS_OF_ALL
}
