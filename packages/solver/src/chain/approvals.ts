import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from 'viem'
import type { SolverChain } from './open-chain.js'
import { tokenAbi } from './settlement-abi.js'
import type { TransactionSender } from './transactions.js'

/** Some tokens reduce an allowance without a limit to 96 bits. Above this, it need not be renewed. */
const AMPLE = 2n ** 95n

/**
 * Approves the settlement contract to take each token, where its allowance is lower than wanted.
 * @throws viem's errors, those of the account, and Error when a transaction reverts
 */
export async function approveTokens(
  chain: SolverChain,
  owner: Address,
  sender: TransactionSender,
  signal: AbortSignal,
): Promise<void> {
  for (const [token, wanted] of chain.tokens) {
    const allowance = await readAllowance(chain, token, owner)
    if (allowance >= wanted || allowance >= AMPLE) continue
    // Tokens such as USDT change an allowance only from or to 0.
    if (allowance > 0n) await approve(chain, token, 0n, sender, signal)
    await approve(chain, token, wanted, sender, signal)
  }
}

/** How much of a token the settlement contract may take. @throws viem's errors */
export function readAllowance(
  { client, settlement }: SolverChain,
  token: Address,
  owner: Address,
): Promise<bigint> {
  const call = { address: token, abi: tokenAbi, functionName: 'allowance' } as const
  return client.readContract({ ...call, args: [owner, settlement] })
}

async function approve(
  { settlement, pollIntervalMs }: SolverChain,
  token: Address,
  amount: bigint,
  sender: TransactionSender,
  signal: AbortSignal,
): Promise<void> {
  const args = [settlement, amount] as const
  const sent = await sender.send({ address: token, abi: tokenAbi, functionName: 'approve', args })
  let outcome = await sender.outcome(sent)
  while (outcome === undefined) {
    await delay(pollIntervalMs, undefined, { signal })
    outcome = await sender.outcome(sent)
  }
  if (outcome === 'reverted') throw new Error(`the approval of ${token} reverted: ${sent.hash}`)
}
