import { describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { databases, type TestDatabase } from '../../support/databases/service-databases.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, signedRegistration, startSolver } from '../../support/solvers/solver.js'

const [account, _otherAccount] = solverAccounts

const chain = await shared(startModelChain({ bonded: 2 }))
const solver = await shared(startSolver(chain, account, honest({ output: '1000' })))
const path = `/v1/${chain.chainId}/solvers`

/** @returns the variable that names an empty database, which exists until the test has ended */
async function environmentOf(make: () => Promise<TestDatabase>): Promise<Record<string, string>> {
  const { environment, drop } = await make()
  onTestFinished(drop)
  return environment
}

describe('a service that starts again', () => {
  it.each(databases)(
    'keeps registered solvers on %s, asks them, and still rejects their old messages',
    async (_kind, make) => {
      const environment = await environmentOf(make)
      const before = await startService(chain, environment)
      const registration = await signedRegistration(account, {
        endpointUrl: solver.endpointUrl,
        name: 'Kept',
      })
      expect((await before.post(`${path}/register`, registration)).status).toBe(200)
      const listBefore = await before.get(path)
      await before.close()

      const after = await startService(chain, environment)
      expect((await after.get(path)).body).toEqual(listBefore.body)
      const quote = await after.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
      expect(quote.body.quote.solver).toBe(account.address)
      expect((await after.post(`${path}/register`, registration)).body.code).toBe('TIMESTAMP_REUSED')
      await after.close()
    },
  )
})
