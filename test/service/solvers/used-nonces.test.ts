import { expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { signedOver } from '../../support/solvers/offer-faults.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { playRestart } from '../../support/solvers/restarted-solver.js'
import { startSolver } from '../../support/solvers/solver.js'

const chain = await shared(startModelChain({ bonded: 1 }))
const solver = await shared(startSolver(chain, solverAccounts[0]))

it('a restarted solver that repeats used nonces loses only those offers, also after a restart of the service', async () => {
  const environment = { DB_PATH: temporaryFile(), [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' }
  const before = await startService(chain, environment)
  await solver.register(before)
  expect(await playRestart(chain, solver, [before])).toEqual([[2, 4, 5]])
  await before.close()
  const after = await startService(chain, environment)
  for (const [nonce, status] of Object.entries({ 1: 503, 2: 200, 3: 503 })) {
    solver.behave(signedOver({ nonce }))
    expect((await after.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).status).toBe(status)
  }
  await after.close()
})

it('a nonce that is cancelled while the service is down is used after its start', async () => {
  const environment = { DB_PATH: temporaryFile() }
  const before = await startService(chain, environment)
  await solver.register(before)
  await before.close()
  await createCalls(chain.devnet, chain.contracts.settlement).send(solverAccounts[0], 'cancelNonce', [77n])
  const after = await startService(chain, environment)
  solver.behave(signedOver({ nonce: '77' }))
  expect((await after.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).status).toBe(503)
  await after.close()
})

it('a nonce from before the service is known after the contract has refused an offer with it', async () => {
  const calls = createCalls(chain.devnet, chain.contracts.settlement)
  await calls.send(solverAccounts[0], 'cancelNonce', [78n])
  const service = await startService(chain)
  await solver.register(service)
  solver.behave(signedOver({ nonce: '78' }))
  const ask = async (changes: object = {}) =>
    (await service.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...changes })).status
  expect(await ask()).toBe(200)
  expect(await ask({ verify: 'best' })).toBe(503)
  await eventually(ask, (status) => status === 503)
  await service.close()
})
