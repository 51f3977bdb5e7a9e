import { type ListedToken, readToken } from '../../client/src/index.js'
import type { OwnChains } from './own-chains.js'
import { ToolError } from './tool.js'

/** Which tokens the instance has told an agent with wrong decimals. */
export interface ListedDecimals {
  /** Compares those of tokens with the owner's node, where there is one. A token that the node cannot read is not compared. */
  compare(chainId: number, tokens: readonly ListedToken[]): Promise<void>
  wrong(chainId: number, token: string): boolean
}

export function createListedDecimals(chains: OwnChains): ListedDecimals {
  const found = new Set<string>()
  const keyOf = (chainId: number, token: string) => `${chainId} ${token.toLowerCase()}`
  return {
    async compare(chainId, tokens) {
      const node = await chains.node(chainId).catch((error) => {
        if (error instanceof ToolError) return undefined
        throw error
      })
      if (node === undefined) return
      const compared = tokens.map(async ({ address, decimals }) => {
        const read = await readToken(node, address).catch(() => undefined)
        if (read !== undefined && decimals !== undefined && decimals !== read.decimals)
          found.add(keyOf(chainId, address))
      })
      await Promise.all(compared)
    },
    wrong: (chainId, token) => found.has(keyOf(chainId, token)),
  }
}
