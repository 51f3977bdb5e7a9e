import { expect, it } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { signedOver } from '../../support/solvers/offer-faults.js'
import { contractStruct } from '../../support/solvers/solver.js'

const { chain, solvers, ask } = await startScene({ solvers: ['Ada'] })
const [solver] = solvers
const calls = createCalls(chain.devnet, chain.contracts.settlement)
await calls.fund(chain.contracts.weth, user, 10n ** 24n)

it.each<[string, string, () => Promise<unknown>]>([
  [
    'an order has used',
    '77',
    async () => {
      const { body } = await ask()
      await calls.send(user, 'deposit', [contractStruct(body.quote), body.solverSignature])
    },
  ],
  ['its solver has cancelled', '78', () => calls.send(solverAccounts[0], 'cancelNonce', [78n])],
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
