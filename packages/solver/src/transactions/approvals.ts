import { type Address, erc20Abi } from 'viem'
import { revertOf } from '../../../protocol/src/node/revert.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { readAllowance } from '../chain/contract.js'
import { failed } from '../chain/open-chain.js'
import { keepTrying } from '../waiting.js'
import { APPROVAL } from './payments.js'

/** Some tokens reduce an allowance without a limit to 96 bits. Above this, it need not be renewed. */
const AMPLE = 2n ** 95n

/** The first and the longest pause before an approval is tried again: until then, its token may not be paid out. */
const RETRY_MS = { first: 3_000, longest: 600_000 }
const pauseMs = (failures: number) => Math.min(RETRY_MS.first * 2 ** failures, RETRY_MS.longest)

/**
 * Approves the settlement contract to take each token, where its allowance is lower than wanted. One that fails is reported, keeps no
 * others, and is tried again after a growing pause.
 * @returns when each was tried @throws the signal's reason
 */
export async function approveTokens(parts: ChainParts): Promise<void> {
  const { chain, solver, payments, signal } = parts
  for (const [token, wanted] of chain.tokens)
    await new Promise<void>((tried) => {
      const place = `${solver} must be able to approve ${token} on chain ${chain.chainId}`
      const attempt = () => approve(token, wanted).catch(failed(place))
      const onError = (error: unknown) => tried(parts.onError(error))
      keepTrying({ ...parts, onError }, attempt, pauseMs).then(tried, tried)
    })
  signal.throwIfAborted()

  async function approve(token: Address, wanted: bigint): Promise<void> {
    const id = `${APPROVAL}${chain.chainId} ${token}`
    // One that has failed may have left a transaction whose nonce others wait for.
    payments.finish(id)
    const allowance = await readAllowance(chain, token, solver)
    if (allowance >= wanted || allowance >= AMPLE) return
    try {
      await change(id, token, wanted)
    } catch (error) {
      // Tokens such as USDT change an allowance only from or to 0. For others, what is owed must not wait at 0.
      if (allowance === 0n || revertOf(error) === undefined) throw error
      await change(id, token, 0n)
      await change(id, token, wanted)
    }
  }

  async function change(id: string, token: Address, amount: bigint): Promise<void> {
    const args = [chain.settlement, amount] as const
    await payments.send(id, { address: token, abi: erc20Abi, functionName: 'approve', args })
    const end = await payments.follow(id)
    signal.throwIfAborted()
    payments.forget(id)
    if (end?.outcome !== 'success') throw new Error(`the transaction ${end?.hash} ${end?.outcome}`)
  }
}
