import { expect, it } from 'vitest'
import { BOND, solverAccounts } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts

const chain = await shared(startModelChain({ bonded: 1 }))
const { send } = createCalls(chain.devnet, chain.contracts.settlement)
const solver = await shared(startSolver(chain, account, honest({ output: '1000000000' })))
// The minimum is the whole bond, so that any smaller bond is too small.
const service = await shared(
  startService(chain, {
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    MIN_SOLVER_BOND: BOND.toString(),
  }),
)

const untilListed = (count: number) =>
  eventually(
    () => service.get(`/v1/${chain.chainId}/solvers`),
    ({ body }) => body.length === count,
  )

async function isAsked(): Promise<boolean> {
  const before = solver.asks.length
  await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  return solver.asks.length > before
}

it('a solver with an insufficient bond is neither asked nor listed, nor may it register, until the bond is back', async () => {
  await solver.register(service)
  expect(await isAsked()).toBe(true)

  await send(account, 'requestUnstake', [1n])
  await untilListed(0)
  expect(await isAsked()).toBe(false)
  expect((await service.get('/health')).body.activeSolvers).toEqual({ [chain.chainId]: 0 })
  await expect(solver.register(service)).rejects.toThrow('BOND_INSUFFICIENT')

  await send(account, 'cancelUnstake', [])
  await untilListed(1)
  expect(await isAsked()).toBe(true)
})
