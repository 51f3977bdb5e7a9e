import { type Address, type Client, createClient, http } from 'viem'
import { readSettlement, type SettlementTerms } from '../../client/src/index.js'
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
  const known = new Map<number, Promise<SettlementTerms>>()

  /** @throws ChainReadError */
  async function node(chainId: number): Promise<Client> {
    const client = clients.get(chainId)
    if (client === undefined) throw missing(chainId, 'NO_NODE', `--rpc-url ${chainId}=<URL>`)
    const served = await readChainId(client.request)
    if (served === chainId) return client
    throw new ToolError('NO_NODE', `The node of --rpc-url ${chainId} is of chain ${served}.`)
  }

  async function read(chainId: number): Promise<SettlementTerms> {
    const settlement = settlements.get(chainId)
    if (settlement === undefined) throw missing(chainId, 'NO_SETTLEMENT', `--settlement ${chainId}:<address>`)
    return readSettlement(await node(chainId), settlement, { protocolName })
  }

  return {
    hasNodes: clients.size > 0,
    settlements,
    node,
    /** What the pinned contract says of itself, read once. @throws ChainReadError */
    terms(chainId: number): Promise<SettlementTerms> {
      const terms = known.get(chainId) ?? read(chainId)
      known.set(chainId, terms)
      terms.catch(() => known.delete(chainId))
      return terms
    },
  }
}

function missing(chainId: number, code: string, option: string): ToolError {
  const message = `The owner has not named this for chain ${chainId}: start the server with ${option}.`
  return new ToolError(code, message)
}
