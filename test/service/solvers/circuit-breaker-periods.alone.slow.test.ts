import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { environmentForAll } from '../../support/service/event-service.js'
import { startService } from '../../support/service/service.js'
import { signedUnregistration, startSolver } from '../../support/solvers/solver.js'
import {
  createView,
  expectPrompt,
  healthyFaulty,
  openBreaker,
  openFixture,
  QUOTE_TIMEOUT_MS,
  startSolvers,
  WITH_PROXY,
  WITHOUT_MOODY,
} from '../../support/solvers/three-solvers.js'

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
})
afterAll(() => chain?.stop())

describe('an open circuit breaker', () => {
  it.each([
    ['after it registers a new endpoint', false],
    ['after it unregisters and registers elsewhere', true],
  ])('stays open %s: no quote waits for it', async (_, isUnregistered) => {
    const { faulty, service, quote, measured } = await openFixture(chain)
    await openBreaker({ faulty, quote })
    if (isUnregistered) {
      const path = `/v1/${chain.chainId}/solvers/${faulty.account.address}`
      expect((await service.delete(path, await signedUnregistration(faulty.account))).status).toBe(200)
      await expectPrompt(quote, WITHOUT_MOODY)
    }
    const elsewhere = await startSolver(chain, faulty.account, healthyFaulty)
    onTestFinished(elsewhere.close)
    await elsewhere.register(service)
    await expectPrompt(quote, WITHOUT_MOODY)
    expect((await measured()).circuitOpen).toBe(1)
    for (let isBack = false; !isBack; ) isBack = (await quote()).offers.includes('faulty')
    expect((await measured()).circuitOpen).toBe(0)
  })

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
    expect(await view.measured()).toMatchObject({ circuitOpen: 0 })
    expect((await createView(service, chain).measured()).circuitOpen).toBe(1)
    await expectPrompt(createView(service, chain).quote, WITHOUT_MOODY)
  })
})
