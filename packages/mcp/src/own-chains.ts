import { type Address, type Client, createClient, getAddress, http } from 'viem'
import { type ListedToken, readSettlement, readToken, type SettlementTerms } from '../../client/src/index.js'
import { readChainId } from '../../protocol/src/node/read-view.js'
import { ToolError } from './tool.js'

export type OwnChains = ReturnType<typeof createOwnChains>

export interface OwnChainOptions {
  readonly settlements: ReadonlyMap<number, Address>
  readonly rpcUrls: ReadonlyMap<number, string>
  readonly protocolName: string
}

const NODE_TIMEOUT_MS = 10_000

/** The owner's own nodes, and the contracts that the owner trusts. Both functions throw ToolError for what the owner has not named. */
export function createOwnChains({ settlements, rpcUrls, protocolName }: OwnChainOptions) {
  const clients = new Map(
    [...rpcUrls].map(([chainId, url]) => {
      const transport = http(url, { batch: true, timeout: NODE_TIMEOUT_MS, retryCount: 0 })
      return [chainId, createClient({ transport })]
    }),
  )
  /** The tokens of which the instance has told an agent wrong decimals. */
  const misread = new Set<string>()

  /** @throws ChainReadError */
  async function node(chainId: number): Promise<Client> {
    const client = named(clients, chainId, 'NO_NODE', `--rpc-url ${chainId}=<URL>`)
    const served = await readChainId(client.request)
    if (served === chainId) return client
    throw new ToolError('NO_NODE', `The node of --rpc-url ${chainId} is of chain ${served}.`)
  }

  return {
    hasNodes: clients.size > 0,
    settlements,
    node,
    /** What the pinned contract says of itself. @throws ChainReadError */
    async terms(chainId: number): Promise<SettlementTerms> {
      const settlement = named(settlements, chainId, 'NO_SETTLEMENT', `--settlement ${chainId}:<address>`)
      return readSettlement(await node(chainId), settlement, { protocolName })
    },
    /** Compares the decimals of tokens, as the instance says them, with the owner's node, where it can read them. */
    async compareDecimals(chainId: number, tokens: readonly ListedToken[]): Promise<void> {
      const client = await node(chainId).catch(() => undefined)
      const compared = tokens.map(async ({ address, decimals }) => {
        const read = client && (await readToken(client, address).catch(() => undefined))
        if (read && decimals !== undefined && decimals !== read.decimals) misread.add(`${chainId} ${address}`)
      })
      await Promise.all(compared)
    },
    isMisread: (chainId: number, token: Address) => misread.has(`${chainId} ${getAddress(token)}`),
  }
}

function named<T>(values: ReadonlyMap<number, T>, chainId: number, code: string, option: string): T {
  const value = values.get(chainId)
  if (value !== undefined) return value
  const message = `The owner has not named this for chain ${chainId}: start the server with ${option}.`
  throw new ToolError(code, message)
}
