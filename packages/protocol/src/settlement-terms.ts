/** A settlement contract's requirements on orders; undefined without such a view (docs/protocol.md, "Contract views"). */
export interface SettlementTerms {
  /** `BOND_RESERVATION_BPS()`: the part of `outputAmount` that a free bond must cover, in hundredths of a percent. */
  readonly bondReservationBps: bigint | undefined
  /** `MIN_ORDER()`: the smallest `outputAmount`, in the output token's smallest unit. */
  readonly minOrder: bigint | undefined
}

const BPS_OF_ALL = 10_000n

/** The bond that an order reserves, rounded down like the contract's `mulDiv`; in the bond token's smallest unit. */
export function bondFor(outputAmount: bigint, reservationBps: bigint): bigint {
  return (outputAmount * reservationBps) / BPS_OF_ALL
}
