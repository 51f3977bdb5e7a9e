import { type Address, erc20Abi } from 'viem'
import { failed, type SolverChain } from '../chain/open-chain.js'
import type { SolverParts } from '../solver-parts.js'
import type { Payments } from './payments.js'

/** Some tokens reduce an allowance without a limit to 96 bits. Above this, it need not be renewed. */
const AMPLE = 2n ** 95n

/** Until a token is approved, it is not paid out. */
const RETRY_MS = 600_000

/**
 * Approves the settlement contract to take each token, where its allowance is lower than wanted. One that fails is reported, keeps no
 * others, and is tried again every ten minutes.
 * @throws the signal's reason
 */
export async function approveTokens(
  chain: SolverChain,
  owner: Address,
  payments: Payments,
  parts: Pick<SolverParts, 'clock' | 'signal' | 'onError'>,
): Promise<void> {
  const { clock, signal, onError } = parts
  for (const [token, wanted] of chain.tokens) await tryToApprove(token, wanted)

  async function tryToApprove(token: Address, wanted: bigint): Promise<void> {
    const place = `${owner} must be able to approve ${token} on chain ${chain.chainId}`
    try {
      await approve(token, wanted).catch(failed(place))
    } catch (error) {
      signal.throwIfAborted()
      onError(error)
      const tryAgain = () => tryToApprove(token, wanted)
      void clock
        .sleep(RETRY_MS, signal)
        .then(tryAgain)
        .catch(() => {})
    }
  }

  async function approve(token: Address, wanted: bigint): Promise<void> {
    const id = `approval ${chain.chainId} ${token}`
    // A stopped process may have left it.
    if (payments.isUnderWay(id)) await followApproval(id, payments, signal)
    const allowance = await readAllowance(chain, token, owner)
    if (allowance >= wanted || allowance >= AMPLE) return
    // Tokens such as USDT change an allowance only from or to 0.
    const amounts = allowance > 0n ? [0n, wanted] : [wanted]
    for (const amount of amounts) {
      const args = [chain.settlement, amount] as const
      const call = { address: token, abi: erc20Abi, functionName: 'approve', args } as const
      await payments.send(id, call)
      const end = await followApproval(id, payments, signal)
      // Another process of the account may have made it, or the node has lost the receipt.
      const isDone = end?.outcome === 'failed' && (await readAllowance(chain, token, owner)) === amount
      if (end?.outcome !== 'success' && !isDone)
        throw new Error(`the transaction ${end?.hash} ${end?.outcome}`)
    }
  }
}

async function followApproval(id: string, payments: Payments, signal: AbortSignal) {
  const end = await payments.follow(id)
  signal.throwIfAborted()
  payments.forget(id)
  return end
}

/** How much of a token the settlement contract may take. @throws viem's errors */
export function readAllowance(
  { client, settlement }: SolverChain,
  token: Address,
  owner: Address,
): Promise<bigint> {
  const call = { address: token, abi: erc20Abi, functionName: 'allowance' } as const
  return client.readContract({ ...call, args: [owner, settlement] })
}
