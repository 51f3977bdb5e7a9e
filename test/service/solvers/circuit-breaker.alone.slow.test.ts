import { setInterval } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import type { Behaviour } from '../../support/solvers/solver.js'
import {
  ALL,
  answerStatus,
  expectPrompt,
  healthyFaulty,
  holdBack,
  openBreaker,
  openFixture,
  PROMPT_MS,
  QUOTE_TIMEOUT_MS,
  WITHOUT_MOODY,
} from '../../support/solvers/three-solvers.js'

const FIRST_TERM_MS = 5000
const PACE_MS = 50

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
})
afterAll(() => chain?.stop())

describe('a solver that hangs', () => {
  it('delays three quotes, is not asked for 5 s, and is back when it answers one that no quote waits for', async () => {
    const { faulty, quote, measured } = await openFixture(chain)
    await openBreaker({ faulty, quote })
    const openedAt = performance.now()
    expect((await measured()).circuitOpen).toBe(1)

    /** Sends quotes at intervals, which do not wait for the solver, until it is asked once more. */
    async function untilAsked() {
      const asksBefore = faulty.asks.length
      for await (const _ of setInterval(PACE_MS)) {
        const { offers, elapsedMs } = await quote()
        expect(offers).toEqual(WITHOUT_MOODY)
        expect(elapsedMs).toBeLessThan(PROMPT_MS)
        if (faulty.asks.length > asksBefore) return
      }
    }
    await untilAsked()
    expect(performance.now() - openedAt).toBeGreaterThan(FIRST_TERM_MS - 100)

    const { behaviour, letGo } = holdBack()
    faulty.behave(behaviour)
    await untilAsked()
    expect((await measured()).circuitOpen).toBe(1)
    letGo()
    for (let isBack = false; !isBack; ) isBack = (await quote()).offers.includes('faulty')
    await expectPrompt(quote, ALL)
    const { circuitOpen, latencySeconds } = await measured()
    expect(circuitOpen).toBe(0)
    expect(latencySeconds).toBeGreaterThan(0)
    expect(latencySeconds).toBeLessThan(QUOTE_TIMEOUT_MS / 1000)
  })
})

describe('a solver that fails at once', () => {
  const forgedOffer: Behaviour = async (ask, { quoteFor, sign }) => {
    const { quote, signature } = await sign(quoteFor(ask))
    return { quote: { ...quote, outputAmount: `${quote.outputAmount}0` }, signature }
  }
  const hangUp: Behaviour = async (_ask, _solver, { response }) => void response.destroy()
  const nonsense: Behaviour = async (_ask, _solver, { response }) => void response.end('<html>')

  it.each([
    ['an offer with a bad signature', forgedOffer],
    ['a body that is no JSON', nonsense],
    ['a connection that breaks', hangUp],
    ['a status of 500', answerStatus(500)],
  ])('is asked for the next offer after %s, as it cost no time', async (_, behaviour) => {
    const { faulty, quote, measured } = await openFixture(chain)
    faulty.behave(behaviour)
    await expectPrompt(quote, WITHOUT_MOODY, 8)
    expect(faulty.asks.length).toBe(8)
    faulty.behave(healthyFaulty)
    await expectPrompt(quote, ALL, 1)
    expect(await measured()).toMatchObject({ circuitOpen: 0 })
  })
})

describe('callers that do not wait for a slower solver leave its circuit breaker closed', () => {})

describe('when every solver fails', () => {
  it('each quote asks all of them, and has the first good reply at once', async () => {
    const { faulty, steady, other, quote, measured } = await openFixture(chain)
    for (const solver of [faulty, steady, other]) solver.behave(answerStatus(500))
    for (let time = 0; time < 10; time++) expect((await quote()).code).toBe('NO_QUOTES')
    expect((await measured()).circuitOpen).toBe(0)
    faulty.behave(healthyFaulty)
    await expectPrompt(quote, ['faulty'])
    expect([faulty, steady, other].map(({ asks }) => asks.length)).toEqual([15, 15, 15])
  })
})
