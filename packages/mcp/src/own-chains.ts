import { type Address, type Client, createClient, formatUnits, getAddress, http } from 'viem'
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
    const client = named(clients, chainId, `--rpc-url ${chainId}=<URL>`)
    const served = await readChainId(client.request)
    if (served === chainId) return client
    throw new ToolError('NO_NODE', `The node of --rpc-url ${chainId} is of chain ${served}.`)
  }

  async function readOwn(chainId: number, token: Address) {
    const reading = node(chainId).then((client) => readToken(client, token))
    return reading.catch(() => undefined)
  }

  return {
    hasNodes: clients.size > 0,
    settlements,
    node,
    /** What the pinned contract says of itself. @throws ChainReadError */
    async terms(chainId: number): Promise<SettlementTerms> {
      const settlement = named(settlements, chainId, `--settlement ${chainId}:<address>`)
      return readSettlement(await node(chainId), settlement, { protocolName })
    },
    /** Compares the decimals of tokens, as the instance says them, with the owner's node, where it can read them. */
    async compareDecimals(chainId: number, tokens: readonly ListedToken[]): Promise<void> {
      const compared = tokens.map(async ({ address, decimals }) => {
        const read = await readOwn(chainId, address)
        if (read && decimals !== undefined && decimals !== read.decimals) misread.add(`${chainId} ${address}`)
      })
      await Promise.all(compared)
    },
    /** A token of an offer: whether its decimals were misread, and amounts in whole tokens, where the owner's node can read it. */
    async token(chainId: number, address: Address) {
      const read = await readOwn(chainId, address)
      const isMisread = misread.has(`${chainId} ${getAddress(address)}`)
      return { isMisread, inTokens: (units: bigint) => read && formatUnits(units, read.decimals) }
    },
  }
}

function named<T>(values: ReadonlyMap<number, T>, chainId: number, option: string): T {
  const value = values.get(chainId)
  if (value !== undefined) return value
  const message = `The owner has not named this for chain ${chainId}: start the server with ${option}.`
  throw new ToolError('NOT_NAMED', message)
}
