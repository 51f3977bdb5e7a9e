import { type Address, type Client, createClient, http } from 'viem'
import { readSettlement, type SettlementTerms } from '../../client/src/index.js'
import { readChainId } from '../../protocol/src/node/read-view.js'
import { ToolError } from './tool.js'

/** The owner's own nodes, and the contracts that the owner trusts. */
export interface OwnChains {
  readonly hasNodes: boolean
  /** The contract that the owner has pinned; undefined without one. */
  pinned(chainId: number): Address | undefined
  /** @throws ToolError without a node of the chain; ChainReadError */
  node(chainId: number): Promise<Client>
  /** What the pinned contract says of itself, read once. @throws ToolError without a node or a contract; ChainReadError */
  terms(chainId: number): Promise<SettlementTerms>
}

export interface OwnChainOptions {
  readonly settlements: ReadonlyMap<number, Address>
  readonly rpcUrls: ReadonlyMap<number, string>
  readonly protocolName: string
}

const NODE_TIMEOUT_MS = 10_000

export function createOwnChains({ settlements, rpcUrls, protocolName }: OwnChainOptions): OwnChains {
  const clients = new Map(
    [...rpcUrls].map(([chainId, url]) => {
      const transport = http(url, { batch: true, timeout: NODE_TIMEOUT_MS, retryCount: 0 })
      return [chainId, createClient({ transport })]
    }),
  )
  const known = new Map<number, Promise<SettlementTerms>>()

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
    pinned: (chainId) => settlements.get(chainId),
    node,
    terms(chainId) {
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
