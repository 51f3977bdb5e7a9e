import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { McpParts } from '../mcp-parts.js'
import { address, chainId, orderId, rows } from '../schemas.js'
import { addTool } from '../tool.js'

const MAX_ORDERS = 20

/** What has become of swaps. */
export function addOrderTools(server: McpServer, { client }: McpParts): void {
  addTool(server, 'get_order', {
    input: { chainId, orderId },
    output: { state: z.string(), orderId: z.string() },
    run: ({ chainId, orderId }, signal) => client.getOrder(chainId, orderId, { signal }),
  })

  addTool(server, 'list_orders', {
    input: { chainId, user: address },
    output: { orders: rows },
    async run({ chainId, user }, signal) {
      const { orders } = await client.listOrders(chainId, { user, pageSize: MAX_ORDERS }, { signal })
      return { orders }
    },
  })
}
