import { setInterval } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { deferred } from '../../support/deferred.js'
import type { Behaviour } from '../../support/solvers/solver.js'
import {
  ALL,
  answerStatus,
  expectPrompt,
  hang,
  healthyFaulty,
  holdBack,
  openBreaker,
  openFixture,
  PROMPT_MS,
  QUOTE_TIMEOUT_MS,
  type Quote,
  startSolvers,
  startWithSolvers,
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

  it('is asked by all concurrent quotes, and by none after them', async () => {
    const { faulty, quote, measured } = await openFixture(chain)
    faulty.behave(hang)
    const answers = await Promise.all(Array.from({ length: 20 }, () => quote()))
    expect(answers.map(({ offers }) => offers)).toEqual(Array(20).fill(WITHOUT_MOODY))
    const asks = faulty.asks.length
    expect(asks).toBeGreaterThanOrEqual(3)
    await expectPrompt(quote, WITHOUT_MOODY)
    expect(faulty.asks.length).toBe(asks)
    expect((await measured()).circuitOpen).toBe(1)
  })

  it('is left out at a steady rate of quotes while its first requests are open, until it answers them', async () => {
    const { faulty, quote, measured } = await openFixture(chain, { QUOTE_TIMEOUT_MS: '10000' })
    const { behaviour, letGo } = holdBack()
    faulty.behave(behaviour)
    const answered: Awaited<ReturnType<Quote>>[] = []
    const quotes: Promise<unknown>[] = []
    for await (const _ of setInterval(PACE_MS)) {
      quotes.push(quote().then((answer) => answered.push(answer)))
      if (answered.length >= 5) break
    }
    const asks = faulty.asks.length
    expect(asks).toBeGreaterThanOrEqual(3)
    for (let time = 0; time < 10; time++) expect((await quote()).offers).toEqual(WITHOUT_MOODY)
    expect(faulty.asks.length).toBe(asks)
    expect((await measured()).circuitOpen).toBe(0)

    letGo()
    await Promise.all(quotes)
    const offers = answered.map((answer) => answer.offers)
    expect(offers.filter((each) => each.includes('faulty'))).toEqual(Array(asks).fill(ALL))
    expect(offers.slice(0, 5)).toEqual(Array(5).fill(WITHOUT_MOODY))
    expect((await quote()).offers).toEqual(ALL)
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

  it.each([422, 404, 429, 501, 503])('is asked for the next offer after a decline by %i', async (status) => {
    const { faulty, quote, measured } = await openFixture(chain)
    faulty.behave(answerStatus(status))
    await expectPrompt(quote, WITHOUT_MOODY, 8)
    expect(faulty.asks.length).toBe(8)
    faulty.behave(healthyFaulty)
    await expectPrompt(quote, ALL, 1)
    expect(await measured()).toMatchObject({ circuitOpen: 0 })
  })
})

describe('callers that do not wait for a slower solver leave its circuit breaker closed', () => {
  it.each([
    ['with a short deadline, one after the other', 1],
    ['with a short deadline, at once', 10],
  ])('when they call %s', async (_, atOnce) => {
    const { faulty, steady, other, quote, measured } = await openFixture(chain)
    const { behaviour, letGo } = holdBack()
    faulty.behave(behaviour)
    const inAHurry = { headers: { 'connect-timeout-ms': '30' } }
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: atOnce }, () => quote(inAHurry)))
    }
    expect(faulty.asks.length).toBeGreaterThanOrEqual(3)
    letGo()
    await Promise.all([faulty, steady, other].map((solver) => solver.catchUp()))
    await expectPrompt(quote, ALL)
    expect(await measured()).toMatchObject({ circuitOpen: 0 })
  })

  it('when they hang up', async () => {
    const { faulty, quote, measured } = await openFixture(chain, { QUOTE_TIMEOUT_MS: '5000' })
    for (let time = 0; time < 10; time++) {
      const [asked, cancelled] = [deferred(), deferred()]
      faulty.behave(async (_ask, _solver, { response }) => {
        response.once('close', cancelled.open)
        asked.open()
        return undefined
      })
      const caller = new AbortController()
      const answer = quote({ signal: caller.signal })
      await asked.opened
      caller.abort()
      await expect(answer).rejects.toThrow()
      await cancelled.opened
    }
    faulty.behave(healthyFaulty)
    expect((await quote()).offers).toEqual(ALL)
    expect(await measured()).toMatchObject({ circuitOpen: 0 })
  })
})

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

  it.each([
    ['status 500', answerStatus(500), 20],
    ['by hanging', hang, 4],
  ])('the next offer of the only solver is used at once: %s', async (_, behaviour, times) => {
    const { faulty } = await startSolvers(chain)
    const { quote } = await startWithSolvers(chain, [faulty], { QUOTE_TIMEOUT_MS: '300' })
    faulty.behave(behaviour)
    for (let time = 0; time < times; time++) expect((await quote()).code).toBe('NO_QUOTES')
    expect(faulty.asks.length).toBe(times)
    faulty.behave(healthyFaulty)
    expect((await quote()).offers).toEqual(['faulty'])
  })
})
