import { McpServer } from '@modelcontextprotocol/server'
import type { AggregatorClient } from '../../client/src/index.js'
import type { Clock } from '../../protocol/src/clock.js'
import { createListedDecimals } from './listed-decimals.js'
import { createOwnChains, type OwnChainOptions } from './own-chains.js'
import texts from './texts.json' with { type: 'json' }
import { ToolError } from './tool.js'
import { addDiscoveryTools } from './tools/discovery-tools.js'
import { addOfferTools } from './tools/offer-tools.js'
import { addOrderTools } from './tools/order-tools.js'
import { addQuoteTools } from './tools/quote-tools.js'

export interface McpServerOptions extends OwnChainOptions {
  readonly client: AggregatorClient
  /** Most quotes in a minute. Each reserves funds of solvers. */
  readonly maxQuotes: number
  readonly version: string
  readonly clock: Clock
}

const MINUTE_MS = 60_000

/**
 * Builds what makes servers: one for each connection, which all share the count of quotes. Their tools only read: nothing signs or sends.
 * Checks and calls exist only with a node of the owner.
 */
export function createMcpServers(options: McpServerOptions): () => McpServer {
  const { client, maxQuotes, version, clock } = options
  const chains = createOwnChains(options)
  const decimals = createListedDecimals(chains)
  const admitQuote = createQuoteLimit(maxQuotes, clock)
  const parts = { client, chains, decimals, admitQuote }

  return () => {
    const server = new McpServer(
      { name: 'quote-aggregator', version },
      { instructions: texts.instructions.join(' ') },
    )
    addDiscoveryTools(server, parts)
    addQuoteTools(server, parts)
    if (chains.hasNodes) addOfferTools(server, parts)
    addOrderTools(server, parts)
    const page = { title: 'How to quote and take a swap', mimeType: 'text/markdown' }
    server.registerResource('quoting', 'docs://quoting', page, async ({ href: uri }) => ({
      contents: [{ uri, mimeType: page.mimeType, text: texts.quoting.join('\n') }],
    }))
    return server
  }
}

function createQuoteLimit(maxQuotes: number, clock: Clock): () => void {
  let times: number[] = []
  return () => {
    const now = clock.monotonic()
    times = times.filter((time) => now - time < MINUTE_MS)
    if (times.length >= maxQuotes) {
      const retryAfterSeconds = Math.ceil((MINUTE_MS - (now - (times[0] ?? now))) / 1000)
      const message = `The owner allows ${maxQuotes} quotes a minute, since each reserves funds of solvers.`
      throw new ToolError('RATE_LIMITED', message, { retryAfterSeconds })
    }
    times.push(now)
  }
}
