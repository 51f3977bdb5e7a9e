import { type Address, createPublicClient, parseAbiItem, webSocket } from 'viem'
import type { Devnet } from './deploy.js'

/** Tokens that an address has received. */
export interface Arrival {
  /** Lower case. */
  readonly to: Address
  /** In the token's smallest unit. */
  readonly amount: bigint
}

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/**
 * Reports every transfer of these tokens when its block comes: no event of the settlement contract shows the
 * use of a deposit address.
 * @returns a function that ends it
 */
export async function followTransfers(
  { rpcUrl }: Devnet,
  tokens: readonly Address[],
  onArrival: (arrival: Arrival) => void,
  onError: (error: unknown) => void,
): Promise<() => Promise<void>> {
  // viem shares sockets by URL. This one ends with the chain.
  const url = rpcUrl.replace(/^http/, 'ws')
  const client = createPublicClient({ transport: webSocket(url, { reconnect: false, keepAlive: false }) })
  await client.transport.getRpcClient()
  const unwatch = client.watchEvent({
    address: [...tokens],
    event: TRANSFER,
    onLogs(logs) {
      for (const { args } of logs) {
        if (args.to === undefined || args.value === undefined) continue
        onArrival({ to: args.to.toLowerCase() as Address, amount: args.value })
      }
    },
    onError,
  })
  const end = async () => unwatch()
  // A chain that has ended does not answer.
  return async () => void end().catch(() => {})
}
