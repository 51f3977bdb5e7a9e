import type { MinedTransaction } from './solver-options.js'

/** By chain and purpose, in wei: a number is as exact as metrics need. */
type Fees = Record<number, Partial<Record<MinedTransaction['purpose'], number>>>

/** Counts since the start, as plain numbers. */
export type SolverMetrics = ReturnType<typeof createMetrics>

/** All 0. */
export function createMetrics() {
  return {
    /** Requests for quotes and prices, and those for prices among them. */
    requests: 0,
    requestsForPrices: 0,
    /** Offers that were sent. */
    quoted: 0,
    /** Declines, with those for liquidity and errors. */
    declined: 0,
    /** Declines since `quote` has thrown, has returned no amount, or has not answered in time. */
    quotesFailed: 0,
    /** Declines because the balance, the allowance or the free bond would not have covered the quote. */
    declinedForLiquidity: 0,
    /** Offers that the instance did not take: results INVALID, LATE and SOFT_DEADLINE of sessions. */
    offersDropped: 0,
    /** Results of a session: valid offers, the best ones among them, and requests that ended without the solver's answer. */
    offersValid: 0,
    offersBest: 0,
    requestsCancelled: 0,
    /** Results of a session: requests that failed on the way, and those that no quote waited for. */
    requestsFailed: 0,
    requestsCircuitOpen: 0,
    /** Sessions that were opened, and that were lost or refused. */
    sessionsOpened: 0,
    sessionsLost: 0,
    /** Deposits that were found. */
    deposits: 0,
    /** Payments that were sent, and that reverted. */
    paymentsSent: 0,
    paymentsReverted: 0,
    /** Attempts with higher fees, of all transactions that waited. */
    feesRaised: 0,
    /** Orders that were paid, and that were not paid in time, with those of untaken quotes that have cost bond. */
    filled: 0,
    missed: 0,
    /** What transactions have cost. */
    feesWei: {} as Fees,
    /** Errors after which the solver goes on. */
    errors: 0,
    /** Not counts: signed quotes that may still be taken, orders that are to be paid, and 1 while a session is open. */
    openQuotes: 0,
    openOrders: 0,
    sessionOpen: 0,
  }
}
