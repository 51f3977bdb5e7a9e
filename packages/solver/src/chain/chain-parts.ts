import type { Address } from 'viem'
import type { Books } from '../books.js'
import type { DepositAddresses } from '../risk/deposit-addresses.js'
import type { Losses } from '../risk/losses.js'
import type { QuoteLedger } from '../risk/quote-ledger.js'
import type { SolverParts } from '../solver-parts.js'
import type { Payments } from '../transactions/payments.js'
import type { ChainTime } from './chain-time.js'
import type { SolverChain } from './open-chain.js'

/** What the parts of a chain use of each other. */
export interface ChainParts extends SolverParts {
  readonly chain: SolverChain
  /** Lower case. */
  readonly solver: Address
  readonly time: ChainTime
  readonly ledger: QuoteLedger
  readonly addresses: DepositAddresses
  readonly losses: Losses
  readonly books: Books
  readonly payments: Payments
  /** Gives an error to `onError`, at most once a minute for each reason. */
  readonly report: (reason: string, error: unknown) => void
  /** Reads what the solver has, for the ledger too. @throws viem's errors */
  readonly refresh: () => Promise<void>
}
