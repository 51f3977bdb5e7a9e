import type { McpServer } from '@modelcontextprotocol/server'
import { isAddressEqual, zeroAddress } from 'viem'
import * as z from 'zod'
import { type AggregatorClient, readToken } from '../../../client/src/index.js'
import type { OwnChains } from '../own-chains.js'
import { address, chainId, orderId, rows } from '../schemas.js'
import { addTool, printable } from '../tool.js'

const MAX_TOKENS = 50
const MAX_ORDERS = 20

/** What there is: chains, tokens, solvers and orders, as the instance says. */
export function addListTools(server: McpServer, client: AggregatorClient, chains: OwnChains): void {
  addTool(server, 'list_chains', {
    input: {},
    output: { chains: rows },
    run: async (_input, signal) => ({
      chains: (await client.listChains({ signal })).map(({ chainId, name, status, settlement }) => {
        const trusted = isAddressEqual(chains.settlements.get(chainId) ?? zeroAddress, settlement)
        return { chainId, name: printable(name), status, settlement, trusted }
      }),
    }),
  })

  addTool(server, 'list_tokens', {
    input: { chainId, query: z.string().max(64).default('').describe('A part of the symbol, or an address') },
    output: { tokens: rows },
    async run({ chainId, query }, signal) {
      const wanted = query.toLowerCase()
      const all = await client.listTokens(chainId, { signal })
      const found = all.filter(({ symbol = '', address }) =>
        `${symbol} ${address}`.toLowerCase().includes(wanted),
      )
      const first = found.sort((a, b) => Number(b.listed) - Number(a.listed)).slice(0, MAX_TOKENS)
      await chains.compareDecimals(chainId, first)
      const tokens = first.map(({ address, symbol, decimals, listed }) => {
        return { address, symbol: printable(symbol), decimals, listed }
      })
      return { tokens }
    },
  })

  if (chains.hasNodes)
    addTool(server, 'read_token', {
      input: { chainId, token: address },
      output: { address: z.string(), symbol: z.string().optional(), decimals: z.int() },
      async run({ chainId, token }) {
        const { symbol, ...read } = await readToken(await chains.node(chainId), token)
        return { ...read, symbol: printable(symbol) }
      },
    })

  addTool(server, 'list_solvers', {
    input: { chainId },
    output: { solvers: rows },
    async run({ chainId }, signal) {
      const stats = await client.listSolverStats(chainId, {}, { signal })
      const solvers = stats.map(({ solver, name, settled, refunded, fillRate, notAsked }) => {
        return { solver, name: printable(name), settled, refunded, fillRate, notAsked }
      })
      return { solvers }
    },
  })

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
