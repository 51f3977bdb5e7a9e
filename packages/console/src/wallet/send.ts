import type { Call } from '@quote-aggregator/client'
import type { Hex, ReplacementReason } from 'viem'
import { waitForTransactionReceipt } from 'viem/actions'
import { shorten } from '../format/shorten.js'
import { chainOf } from './node.js'
import { nodeClient, walletClient } from './provider.js'

const TIMEOUT_MS = 180_000

/**
 * Sends a transaction, and waits until it is mined.
 * @param chainId where it belongs: what the user changes in the wallet meanwhile must not lead it elsewhere
 * @returns its hash, or that of the transaction that replaced it at another fee
 * @throws when the wallet has another chain, when it reverts, when the user replaces it with something else, and when it is not
 * mined in time
 */
export async function sendCall(call: Call, chainId: number): Promise<Hex> {
  // With a chain, viem compares it to that of the wallet, and the wallet gets its id with the transaction.
  const hash = await walletClient().sendTransaction({ ...call, chain: chainOf(chainId) })
  let reason: ReplacementReason | undefined
  const receipt = await waitForTransactionReceipt(nodeClient(chainId), {
    hash,
    timeout: TIMEOUT_MS,
    onReplaced(replacement) {
      reason = replacement.reason
    },
  })
  if (reason === 'cancelled' || reason === 'replaced')
    throw new Error(`The transaction ${shorten(hash)} was cancelled or replaced in the wallet.`)
  if (receipt.status !== 'success')
    throw new Error(`The transaction ${shorten(receipt.transactionHash)} has reverted: it changed nothing.`)
  return receipt.transactionHash
}
