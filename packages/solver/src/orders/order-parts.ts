import type { ChainParts } from '../chain/chain-parts.js'
import type { Deposits } from './deposits.js'
import type { OrderReports } from './order-reports.js'

/** What the steps of an order use, from its deposit to its end. */
export interface OrderParts extends ChainParts {
  readonly deposits: Deposits
  readonly reports: OrderReports
  /** Whether the nonce of a quote is being used up. */
  readonly isCancelling: (nonce: bigint) => boolean
}
