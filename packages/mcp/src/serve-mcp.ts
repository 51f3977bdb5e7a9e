import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { AggregatorClient } from '../../client/src/index.js'
import type { Clock } from '../../protocol/src/clock.js'
import { createOwnChains, type OwnChainOptions } from './own-chains.js'
import texts from './texts.json' with { type: 'json' }
import { ToolError } from './tool.js'
import { addListTools } from './tools/list-tools.js'
import { addOfferTools } from './tools/offer-tools.js'
import { addQuoteTools } from './tools/quote-tools.js'

interface McpServerOptions extends OwnChainOptions {
  readonly client: AggregatorClient
  /** Most quotes in a minute. Each reserves funds of solvers. */
  readonly maxQuotes: number
  readonly version: string
  readonly clock: Clock
}

const MINUTE_MS = 60_000

/**
 * Serves MCP on standard input and output, to clients of both eras of the protocol, until the input ends or the signal aborts. Each
 * connection gets a server, and all share the count of quotes. Their tools only read: nothing signs or sends. Checks and calls exist
 * only with a node of the owner.
 * @param onError told of what no client is told
 */
export async function serveMcp(
  options: McpServerOptions,
  signal: AbortSignal,
  onError: (error: Error) => void,
): Promise<void> {
  const { client, maxQuotes, version, clock } = options
  const chains = createOwnChains(options)
  const admitQuote = createQuoteLimit(maxQuotes, clock)
  const createServer = () => {
    const { instructions } = texts
    const server = new McpServer({ name: 'quote-aggregator', version }, { instructions })
    addListTools(server, client, chains)
    addQuoteTools(server, client, admitQuote)
    if (chains.hasNodes) addOfferTools(server, chains)
    const page = { title: 'How to quote and take a swap', mimeType: 'text/markdown' }
    const text = texts.quoting.join('\n')
    server.registerResource('quoting', 'docs://quoting', page, async ({ href: uri }) => {
      return { contents: [{ uri, text, mimeType: page.mimeType }] }
    })
    return server
  }
  const handle = serveStdio(createServer, { onerror: onError })
  await new Promise<void>((resolve) => {
    process.stdin.once('close', resolve).once('end', resolve)
    signal.addEventListener('abort', () => resolve())
  })
  await handle.close()
}

function createQuoteLimit(maxQuotes: number, clock: Clock): () => void {
  let times: number[] = []
  return () => {
    const now = clock.monotonic()
    times = times.filter((time) => now - time < MINUTE_MS)
    const retryAfterSeconds = Math.ceil((MINUTE_MS + (times[0] ?? now) - now) / 1000)
    const message = `The owner allows ${maxQuotes} quotes a minute: each reserves funds of solvers.`
    if (times.length >= maxQuotes) throw new ToolError('RATE_LIMITED', message, { retryAfterSeconds })
    times.push(now)
  }
}
