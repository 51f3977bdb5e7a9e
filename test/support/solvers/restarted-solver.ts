import { expect } from 'vitest'
import { type TestChain, user } from '../chain/chain.js'
import { createCalls } from '../chain/contract-calls.js'
import { eventually } from '../eventually.js'
import type { TestService } from '../service/service.js'
import { quoteRequest } from './quote-request.js'
import { contractStruct, type TestSolver } from './solver.js'

/**
 * Plays a solver of the deployed kind: it counts nonces up from 1, and begins again after a restart. Two of its first three offers are
 * deposited. @returns at each service, which of the nonces 1 to 5 are in offers after the restart
 */
export async function playRestart(chain: TestChain, solver: TestSolver, services: readonly TestService[]) {
  const calls = createCalls(chain.devnet, chain.contracts.settlement)
  await calls.fund(chain.contracts.weth, user, 10n ** 24n)
  let next = 1
  solver.behave(async (ask, { quoteFor, sign }) => sign({ ...quoteFor(ask), nonce: String(next++) }))
  const [first] = services
  /** The answer to a request that the solver answers with this nonce. */
  async function quote(service: TestService | undefined, nonce: number) {
    next = nonce
    return service?.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  }
  for (const nonce of [1, 2, 3]) {
    const answer = await quote(first, nonce)
    expect(answer?.status).toBe(200)
    const { quote: signed, solverSignature } = answer?.body ?? {}
    if (nonce !== 2) await calls.send(user, 'deposit', [contractStruct(signed), solverSignature])
  }
  const returned: number[][] = []
  for (const service of services) {
    await eventually(
      () => quote(service, 3),
      (answer) => answer?.status === 503,
    )
    const nonces: number[] = []
    for (const nonce of [1, 2, 3, 4, 5]) {
      const answer = await quote(service, nonce)
      if (answer?.status === 200) nonces.push(Number(answer.body.quote.nonce))
    }
    returned.push(nonces)
  }
  return returned
}
