import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { environmentForAll } from '../../support/service/event-service.js'
import { startService } from '../../support/service/service.js'
import { signedUnregistration, startSolver } from '../../support/solvers/solver.js'
import {
  ALL,
  createView,
  expectPrompt,
  healthyFaulty,
  openBreaker,
  openFixture,
  QUOTE_TIMEOUT_MS,
  startSolvers,
  startWithSolvers,
  WITH_PROXY,
  WITHOUT_MOODY,
} from '../../support/solvers/three-solvers.js'

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
})
afterAll(() => chain?.stop())

describe('an open circuit breaker', () => {
  it('stays open over a restart: no quote waits for the solver that hung before', async () => {
    const environment = { DB_PATH: temporaryFile(), QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) }
    const { faulty, quote, close } = await openFixture(chain, environment)
    await openBreaker({ faulty, quote })
    await close()
    const after = await startWithSolvers(chain, [], environment)
    await expectPrompt(after.quote, WITHOUT_MOODY)
    // The first quote has asked it, without waiting, whether it answers again.
    expect(faulty.asks.length).toBe(4)
    expect((await after.measured()).circuitOpen).toBe(1)
  })

  it.each([
    ['after it registers a new endpoint', false],
    ['after it unregisters and registers elsewhere', true],
  ])(
    'lets one quote ask the solver %s, and its answer closes it, also after a restart',
    async (_, isUnregistered) => {
      const environment = { DB_PATH: temporaryFile(), QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) }
      const { faulty, service, quote, measured, close } = await openFixture(chain, environment)
      await openBreaker({ faulty, quote })
      if (isUnregistered) {
        const path = `/v1/${chain.chainId}/solvers/${faulty.account.address}`
        expect((await service.delete(path, await signedUnregistration(faulty.account))).status).toBe(200)
        await expectPrompt(quote, WITHOUT_MOODY)
      }
      const elsewhere = await startSolver(chain, faulty.account, healthyFaulty)
      onTestFinished(elsewhere.close)
      await elsewhere.register(service)
      await expectPrompt(quote, ALL)
      expect(await measured()).toMatchObject({ circuitOpen: 0, validShare: 1 })
      expect(faulty.asks.length).toBe(3)
      await close()
      const after = await startWithSolvers(chain, [], environment)
      await expectPrompt(after.quote, ALL, 1)
    },
  )

  it('on one chain does not affect the same address on another', async () => {
    const there = await startChain({ chainId: 4343, bonded: 1 })
    onTestFinished(there.stop)
    const service = await startService(there, {
      ...environmentForAll([chain, there]),
      ...WITH_PROXY,
      QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS),
    })
    onTestFinished(() => service.close())
    const solvers = await startSolvers(chain)
    const sameAddress = await startSolver(there, solvers.faulty.account, healthyFaulty)
    onTestFinished(sameAddress.close)
    for (const solver of [...Object.values(solvers), sameAddress]) await solver.register(service)

    await openBreaker({ faulty: solvers.faulty, quote: createView(service, chain).quote })
    const view = createView(service, there)
    await expectPrompt(view.quote, ['faulty'])
    expect(await view.measured()).toMatchObject({ circuitOpen: 0, validShare: 1 })
    expect((await createView(service, chain).measured()).circuitOpen).toBe(1)
    await expectPrompt(createView(service, chain).quote, WITHOUT_MOODY)
  })
})
