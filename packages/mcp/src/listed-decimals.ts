import { type Address, getAddress } from 'viem'
import { type ListedToken, readToken } from '../../client/src/index.js'
import type { OwnChains } from './own-chains.js'

export type ListedDecimals = ReturnType<typeof createListedDecimals>

/** Remembers of which tokens the instance has told an agent wrong decimals. */
export function createListedDecimals(chains: OwnChains) {
  const found = new Set<string>()
  return {
    /** Compares those of tokens with the owner's node, where it can read them. */
    async compare(chainId: number, tokens: readonly ListedToken[]): Promise<void> {
      const node = await chains.node(chainId).catch(() => undefined)
      const compared = tokens.map(async ({ address, decimals }) => {
        const read = node && (await readToken(node, address).catch(() => undefined))
        if (read && decimals !== undefined && decimals !== read.decimals) found.add(`${chainId} ${address}`)
      })
      await Promise.all(compared)
    },
    areWrong: (chainId: number, ...tokens: readonly Address[]) =>
      tokens.some((token) => found.has(`${chainId} ${getAddress(token)}`)),
  }
}
