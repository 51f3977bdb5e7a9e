import { expect, it } from 'vitest'
import { BOND, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { signedOver } from '../../support/solvers/offer-faults.js'
import { contractStruct } from '../../support/solvers/solver.js'

// The minimum is the whole bond, so that any smaller bond is too small.
const environment = { MIN_SOLVER_BOND: BOND.toString() }
const { chain, service, solvers, ask } = await startScene({ solvers: ['Ada'], environment })
const [solver] = solvers
const { fund, send } = createCalls(chain.devnet, chain.contracts.settlement)
await fund(chain.contracts.weth, user, 10n ** 24n)

const untilListed = (count: number) =>
  eventually(
    () => service.get(`/v1/${chain.chainId}/solvers`),
    ({ body }) => body.length === count,
  )

async function isAsked(): Promise<boolean> {
  const before = solver.asks.length
  await ask()
  return solver.asks.length > before
}

it('a solver with an insufficient bond is neither asked nor listed, nor may it register, until the bond is back', async () => {
  expect(await isAsked()).toBe(true)

  await send(solver.account, 'requestUnstake', [1n])
  await untilListed(0)
  expect(await isAsked()).toBe(false)
  expect((await service.get('/health')).body.activeSolvers).toEqual({ [chain.chainId]: 0 })
  await expect(solver.register(service)).rejects.toThrow('BOND_INSUFFICIENT')

  await send(solver.account, 'cancelUnstake', [])
  await untilListed(1)
  expect(await isAsked()).toBe(true)
})

it.each<[string, string, () => Promise<unknown>]>([
  [
    'an order has used',
    '77',
    async () => {
      const { body } = await ask()
      await send(user, 'deposit', [contractStruct(body.quote), body.solverSignature])
    },
  ],
  ['its solver has cancelled', '78', () => send(solver.account, 'cancelNonce', [78n])],
])('offers with a nonce that %s are dropped, and others are not', async (_how, nonce, use) => {
  solver.behave(signedOver({ nonce }))
  expect((await ask()).status).toBe(200)
  await use()
  await eventually(
    () => ask(),
    ({ status }) => status === 503,
  )
  solver.behave(signedOver({ nonce: `${nonce}0` }))
  expect((await ask()).status).toBe(200)
})
