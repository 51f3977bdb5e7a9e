import type { McpServer } from '@modelcontextprotocol/server'
import { isAddressEqual, zeroAddress } from 'viem'
import * as z from 'zod'
import { readToken } from '../../../client/src/index.js'
import type { McpParts } from '../mcp-parts.js'
import { address, chainId, rows } from '../schemas.js'
import { addTool, printable } from '../tool.js'

const MAX_TOKENS = 50

/** What there is: chains, tokens and solvers, as the instance says. */
export function addDiscoveryTools(server: McpServer, { client, chains, decimals }: McpParts): void {
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
    input: {
      chainId,
      query: z.string().max(64).optional().describe('A part of the symbol, or an address'),
    },
    output: { tokens: rows },
    async run({ chainId, query = '' }, signal) {
      const wanted = query.toLowerCase()
      const tokens = (await client.listTokens(chainId, { signal })).filter(({ symbol = '', address }) =>
        [symbol, address].some((text) => text.toLowerCase().includes(wanted)),
      )
      const first = tokens.sort((a, b) => Number(b.listed) - Number(a.listed)).slice(0, MAX_TOKENS)
      await decimals.compare(chainId, first)
      return {
        tokens: first.map(({ address, symbol, decimals, listed }) => {
          return { address, symbol: symbol && printable(symbol), decimals, listed }
        }),
      }
    },
  })

  if (chains.hasNodes)
    addTool(server, 'read_token', {
      input: { chainId, token: address },
      output: { address: z.string(), symbol: z.string().optional(), decimals: z.int() },
      async run({ chainId, token }) {
        const { symbol, ...read } = await readToken(await chains.node(chainId), token)
        return { ...read, symbol: symbol && printable(symbol) }
      },
    })

  addTool(server, 'list_solvers', {
    input: { chainId },
    output: { solvers: rows },
    run: async ({ chainId }, signal) => ({
      solvers: (await client.listSolverStats(chainId, {}, { signal })).map(
        ({ solver, name, settled, refunded, fillRate, notAsked }) => {
          return { solver, name: printable(name), settled, refunded, fillRate, notAsked }
        },
      ),
    }),
  })
}
