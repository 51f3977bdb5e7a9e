import type { Call } from '@quote-aggregator/client'
import { defineChain, type Hex, type ReplacementReason } from 'viem'
import { shorten } from '../format/shorten.js'
import { walletClient } from './provider.js'
import { wallet } from './state.js'

const USUAL_WAIT_MS = 180_000
const LEAST_WAIT_MS = 10_000
const RETRY_MS = 2000

/** Where a transaction belongs. What the user changes in the wallet meanwhile must not lead it elsewhere. */
export interface SendOptions {
  readonly chainId: number
  /** The account that must send it; the wallet's own one when left out. */
  readonly account?: string
  /** When to give up waiting, Unix time in milliseconds; after three minutes when left out. */
  readonly waitUntil?: number
  /** Called with the hash once the wallet has sent it. */
  readonly onSent?: (hash: Hex) => void
}

/**
 * Sends a transaction, and waits until it is mined.
 * @returns its hash, or that of the transaction that replaced it at another fee
 * @throws when the wallet has another chain or account, when it reverts, when the user replaces it with something else, and when
 * it is not mined in time
 */
export async function sendCall(call: Call, options: SendOptions): Promise<Hex> {
  const { chainId, account, waitUntil = Date.now() + USUAL_WAIT_MS, onSent } = options
  requireAccount(account)
  const client = walletClient()
  // With a chain, viem compares it to that of the wallet, and the wallet gets its id with the transaction.
  const hash = await client.sendTransaction({ ...call, chain: chainOf(chainId) })
  onSent?.(hash)
  const { receipt, reason } = await waitUntilMined(client, hash, waitUntil)
  if (reason === 'cancelled' || reason === 'replaced')
    throw failure(`The transaction ${shorten(hash)} was cancelled or replaced in the wallet.`)
  if (receipt.status !== 'success')
    throw failure(`The transaction ${shorten(receipt.transactionHash)} has reverted: it changed nothing.`)
  return receipt.transactionHash
}

const FAILURE = 'TransactionFailure'
const failure = (message: string) => Object.assign(new Error(message), { name: FAILURE })

/** Whether it is certain that a transaction that was sent has changed nothing. */
export const isFailure = (thrown: unknown) => thrown instanceof Error && thrown.name === FAILURE

/** The node of a wallet may fail for a while: that says nothing of the transaction. @throws when it is not mined in time */
async function waitUntilMined(client: ReturnType<typeof walletClient>, hash: Hex, waitUntil: number) {
  for (;;) {
    let reason: ReplacementReason | undefined
    const timeout = Math.max(LEAST_WAIT_MS, waitUntil - Date.now())
    const onReplaced = (replacement: { readonly reason: ReplacementReason }) => {
      reason = replacement.reason
    }
    try {
      const receipt = await client.waitForTransactionReceipt({ hash, timeout, onReplaced })
      return { receipt, reason }
    } catch {
      if (Date.now() > waitUntil)
        throw new Error(
          `The transaction ${shorten(hash)} is not mined. Look at it in the wallet before you try again.`,
        )
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}

function requireAccount(account: string | undefined): void {
  const current = wallet.peek()?.address
  if (account === undefined || current === undefined || current.toLowerCase() === account.toLowerCase())
    return
  throw new Error(
    `The wallet has changed to the account ${shorten(current)}. This offer is for ${shorten(account)}.`,
  )
}

const chainOf = (id: number) =>
  defineChain({
    id,
    name: `chain ${id}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  })
