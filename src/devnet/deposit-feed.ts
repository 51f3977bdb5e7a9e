import { type Address, createPublicClient, parseAbiItem, webSocket } from 'viem'
import type { Devnet } from './deploy.js'

/** Tokens that have come to an address. */
export interface Arrival {
  /** Lower case. */
  readonly to: Address
  /** In the token's smallest unit. */
  readonly amount: bigint
}

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/**
 * Tells of every transfer of these tokens as its block comes: a deposit address is used without any event of the
 * settlement contract.
 * @returns what ends it
 */
export async function followTransfers(
  { rpcUrl }: Devnet,
  tokens: readonly Address[],
  onArrival: (arrival: Arrival) => void,
  onError: (error: unknown) => void,
): Promise<() => Promise<void>> {
  // Sockets are shared by URL inside viem: this one ends with the chain.
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
  // On a chain that has ended, nobody answers.
  return async () => void end().catch(() => {})
}
