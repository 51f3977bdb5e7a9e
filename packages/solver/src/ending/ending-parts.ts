import type { ChainParts } from '../chain/chain-parts.js'
import type { Filling } from '../orders/filling.js'
import type { CancelRequests } from './cancel-requests.js'

/** What the looks at open quotes use. */
export interface EndingParts extends ChainParts {
  readonly filling: Pick<Filling, 'deposited' | 'hasGivenUp'>
  readonly requests: CancelRequests
  /** By nonce: when the next look at a quote is due whose end depends on others, in Unix seconds of the chain. */
  readonly laterLooks: Map<bigint, number>
}
