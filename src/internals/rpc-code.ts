import type { Code } from '@connectrpc/connect'
import { codeFromString } from '@connectrpc/connect/protocol-connect'

/**
 * The code of an RPC error by its name in Connect, such as `invalid_argument`. Connect exports the function and calls it
 * internal. Checked with @connectrpc/connect 2.1.2.
 */
export function rpcCode(name: string): Code | undefined {
  return codeFromString(name)
}
