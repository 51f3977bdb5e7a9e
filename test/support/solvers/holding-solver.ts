import type { LocalAccount } from 'viem'
import type { TestChain } from '../chain/chain.js'
import { honest, startSolver } from './solver.js'

/**
 * A solver that answers requests for one amount at once, and holds all others until the service gives them
 * up.
 * @param answeredAmount in the token's smallest unit
 */
export async function startHoldingSolver(chain: TestChain, account: LocalAccount, answeredAmount: string) {
  const open = new Map<string, number>()
  const count = (amount: string, change: number) => {
    const requests = (open.get(amount) ?? 0) + change
    if (requests === 0) open.delete(amount)
    else open.set(amount, requests)
  }
  const answer = honest()
  const solver = await startSolver(chain, account, async (...ask) => {
    const [{ amount }, , { response }] = ask
    if (amount === answeredAmount) return answer(...ask)
    count(amount, 1)
    response.once('close', () => count(amount, -1))
    return undefined
  })
  return {
    ...solver,
    /** The number of held requests, for an amount or in all. */
    held: (amount?: string) =>
      amount === undefined ? [...open.values()].reduce((sum, n) => sum + n, 0) : (open.get(amount) ?? 0),
  }
}
