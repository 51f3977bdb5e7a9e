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
  openBreaker,
  openFixture,
  QUOTE_TIMEOUT_MS,
  startSolvers,
  startWithSolvers,
  WITH_PROXY,
  WITHOUT_MOODY,
  wellMoody,
} from '../../support/solvers/three-solvers.js'

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
})
afterAll(() => chain?.stop())

describe('an open circuit breaker', () => {
  it('stays open over a restart: no quote waits for the solver that hung before', async () => {
    const environment = { DB_PATH: temporaryFile(), QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) }
    const { moody, quote, close } = await openFixture(chain, environment)
    await openBreaker({ moody, quote })
    await close()
    const after = await startWithSolvers(chain, [], environment)
    await expectPrompt(after.quote, WITHOUT_MOODY)
    // The first quote has asked it, without waiting, whether it answers again.
    expect(moody.asks.length).toBe(4)
    expect((await after.measured()).benched).toBe(1)
  })

  it.each([
    ['after it registers a new endpoint', false],
    ['after it unregisters and registers elsewhere', true],
  ])(
    'lets one quote ask the solver %s, and its answer closes it, also after a restart',
    async (_, isUnregistered) => {
      const environment = { DB_PATH: temporaryFile(), QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) }
      const { moody, service, quote, measured, close } = await openFixture(chain, environment)
      await openBreaker({ moody, quote })
      if (isUnregistered) {
        const path = `/v1/${chain.chainId}/solvers/${moody.account.address}`
        expect((await service.delete(path, await signedUnregistration(moody.account))).status).toBe(200)
        await expectPrompt(quote, WITHOUT_MOODY)
      }
      const elsewhere = await startSolver(chain, moody.account, wellMoody)
      onTestFinished(elsewhere.close)
      await elsewhere.register(service)
      await expectPrompt(quote, ALL)
      expect(await measured()).toMatchObject({ benched: 0, validShare: 1 })
      expect(moody.asks.length).toBe(3)
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
    const sameAddress = await startSolver(there, solvers.moody.account, wellMoody)
    onTestFinished(sameAddress.close)
    for (const solver of [...Object.values(solvers), sameAddress]) await solver.register(service)

    await openBreaker({ moody: solvers.moody, quote: createView(service, chain).quote })
    const view = createView(service, there)
    await expectPrompt(view.quote, ['moody'])
    expect(await view.measured()).toMatchObject({ benched: 0, validShare: 1 })
    expect((await createView(service, chain).measured()).benched).toBe(1)
    await expectPrompt(createView(service, chain).quote, WITHOUT_MOODY)
  })
})
