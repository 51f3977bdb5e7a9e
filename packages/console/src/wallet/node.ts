import { ChainMismatchError, createClient, custom, defineChain, type EIP1193Provider } from 'viem'
import { coinOf } from '../data/coins.js'

const POLL_MS = 1000

/** A chain as viem compares it with that of the wallet. */
export const chainOf = (id: number) =>
  defineChain({
    id,
    name: `chain ${id}`,
    nativeCurrency: { name: coinOf(id) ?? 'Ether', symbol: coinOf(id) ?? 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  })

/**
 * A client that reads one chain through the node of the user's wallet. The user may change the network in the wallet at any time:
 * an answer counts only when the wallet is on the chain before and after it. Otherwise the read rejects with ChainMismatchError.
 */
export function createNodeClient(provider: Pick<EIP1193Provider, 'request'>, chainId: number) {
  async function requireChain(): Promise<void> {
    const currentChainId = Number(await provider.request({ method: 'eth_chainId' }))
    if (currentChainId !== chainId) throw new ChainMismatchError({ chain: chainOf(chainId), currentChainId })
  }

  async function read(asked: Parameters<EIP1193Provider['request']>[0]): Promise<unknown> {
    await requireChain()
    const answer = provider.request(asked)
    // A revert is an answer too.
    await Promise.allSettled([answer])
    await requireChain()
    return answer
  }

  return createClient({ transport: custom({ request: read }), pollingInterval: POLL_MS })
}
