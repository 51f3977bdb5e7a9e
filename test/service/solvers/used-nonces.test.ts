import { expect, it } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { signedOver } from '../../support/solvers/offer-faults.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { contractStruct, startSolver } from '../../support/solvers/solver.js'

const chain = await shared(startModelChain({ bonded: 1 }))
const calls = createCalls(chain.devnet, chain.contracts.settlement)
await calls.fund(chain.contracts.weth, user, 10n ** 24n)
const service = await shared(startService(chain, { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' }))
const solver = await shared(startSolver(chain, solverAccounts[0]))
await solver.register(service)

const ask = (changes: object = {}) =>
  service.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...changes })

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
  await eventually(ask, ({ status }) => status === 503)
  solver.behave(signedOver({ nonce: `${nonce}0` }))
  expect((await ask()).status).toBe(200)
})
