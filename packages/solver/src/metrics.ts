/** Counts since the start, as plain numbers. */
export interface SolverMetrics {
  /** Requests for quotes and prices. */
  requests: number
  /** Offers that were sent. */
  quoted: number
  /** Declines, with those for liquidity and errors. */
  declined: number
  /** Declines because the balance, the allowance or the free bond would not have covered the quote. */
  declinedForLiquidity: number
  /** Offers that the instance did not take: results INVALID and LATE of sessions. */
  offersDropped: number
  /** Results of a session: valid offers, the best ones among them, and requests that ended without the solver's answer. */
  offersValid: number
  offersBest: number
  requestsCancelled: number
  /** Results of a session: requests that failed on the way, and those that no quote waited for. */
  requestsFailed: number
  requestsCircuitOpen: number
  /** Sessions that were opened, and that were lost or refused. */
  sessionsOpened: number
  sessionsLost: number
  /** Deposits that were found. */
  deposits: number
  /** Payments that were sent, and that reverted. */
  paymentsSent: number
  paymentsReverted: number
  /** Attempts with higher fees, of all transactions that waited. */
  feesRaised: number
  /** Orders that were paid, and that were not paid in time. */
  filled: number
  missed: number
  /** Errors after which the solver goes on. */
  errors: number
  /** Not counts: signed quotes that may still be taken, and orders that are to be paid. */
  openQuotes: number
  openOrders: number
}

/** All 0. */
export function createMetrics(): SolverMetrics {
  return {
    requests: 0,
    quoted: 0,
    declined: 0,
    declinedForLiquidity: 0,
    offersDropped: 0,
    offersValid: 0,
    offersBest: 0,
    requestsCancelled: 0,
    requestsFailed: 0,
    requestsCircuitOpen: 0,
    sessionsOpened: 0,
    sessionsLost: 0,
    deposits: 0,
    paymentsSent: 0,
    paymentsReverted: 0,
    feesRaised: 0,
    filled: 0,
    missed: 0,
    errors: 0,
    openQuotes: 0,
    openOrders: 0,
  }
}
