import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createMcpServers, type McpServerOptions } from './create-mcp-server.js'

/**
 * Serves MCP on standard input and output, to clients of both eras of the protocol, until the input ends or the signal aborts.
 * @param onError told of what no client is told
 */
export async function serveMcp(
  options: McpServerOptions,
  signal: AbortSignal,
  onError: (error: Error) => void,
): Promise<void> {
  const handle = serveStdio(createMcpServers(options), { onerror: onError })
  await new Promise<void>((resolve) => {
    process.stdin.once('close', resolve).once('end', resolve)
    signal.addEventListener('abort', () => resolve())
  })
  await handle.close()
}
