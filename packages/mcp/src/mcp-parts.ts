import type { AggregatorClient } from '../../client/src/index.js'
import type { OwnChains } from './own-chains.js'

/** What tools are made of. */
export interface McpParts {
  /** Asks the instance. */
  readonly client: AggregatorClient
  readonly chains: OwnChains
  /** Counts a quote. @throws ToolError when there were too many in a minute */
  readonly admitQuote: () => void
}
