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
  holdBack,
  openBreaker,
  openFixture,
  PROMPT_MS,
  QUOTE_TIMEOUT_MS,
  type Quote,
  startSolvers,
  startWithSolvers,
  WITHOUT_MOODY,
  wellMoody,
} from '../../support/solvers/three-solvers.js'

const FIRST_TERM_MS = 5000
const PACE_MS = 50

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
})
afterAll(() => chain?.stop())

describe('a solver that hangs', () => {
  it('delays three quotes, is not asked for 5 s, and is back within 10 s when it answers', async () => {
    const { moody, quote, measured } = await openFixture(chain)
    await openBreaker({ moody, quote })
    const benchedAt = performance.now()
    expect(await measured()).toEqual({ benched: 1, validShare: (7 / 8) ** 3, latencySeconds: 0 })

    /** Sends quotes at intervals until it is asked once more. @returns what that quote got */
    async function untilAsked() {
      const asksBefore = moody.asks.length
      for await (const _ of setInterval(PACE_MS)) {
        const answer = await quote()
        expect(answer.offers).toEqual(WITHOUT_MOODY)
        if (moody.asks.length > asksBefore) return answer
        expect(answer.elapsedMs).toBeLessThan(PROMPT_MS)
      }
    }
    const trial = await untilAsked()
    const trialMs = trial?.elapsedMs ?? Number.NaN
    expect(trialMs).toBeGreaterThan(PROMPT_MS)
    expect(performance.now() - trialMs - benchedAt).toBeGreaterThan(FIRST_TERM_MS - 100)

    // Its breaker is open for 10 s now. A half-open request that no quote waits for finds it healthy.
    const recoveredAt = performance.now()
    const { behaviour, letGo } = holdBack()
    moody.behave(behaviour)
    const probing = await untilAsked()
    expect(probing?.elapsedMs).toBeLessThan(PROMPT_MS)
    expect((await measured()).benched).toBe(1)
    letGo()
    for (let isBack = false; !isBack; ) isBack = (await quote()).offers.includes('moody')
    expect(performance.now() - recoveredAt).toBeLessThan(10_000)

    await expectPrompt(quote, ALL)
    const { benched, validShare, latencySeconds } = await measured()
    expect(benched).toBe(0)
    expect(validShare).toBeGreaterThan((7 / 8) ** 4)
    expect(validShare).toBeLessThan(1)
    expect(latencySeconds).toBeGreaterThan(0)
    expect(latencySeconds).toBeLessThan(QUOTE_TIMEOUT_MS / 1000)
  })

  it('is asked by all concurrent quotes, and by none after them', async () => {
    const { moody, quote, measured } = await openFixture(chain)
    moody.behave(hang)
    const answers = await Promise.all(Array.from({ length: 20 }, () => quote()))
    expect(answers.map(({ offers }) => offers)).toEqual(Array(20).fill(WITHOUT_MOODY))
    const asks = moody.asks.length
    expect(asks).toBeGreaterThanOrEqual(3)
    await expectPrompt(quote, WITHOUT_MOODY)
    expect(moody.asks.length).toBe(asks)
    expect((await measured()).benched).toBe(1)
  })

  it('is left out at a steady rate of quotes while its first requests are open, until it answers them', async () => {
    const { moody, quote, measured } = await openFixture(chain, { QUOTE_TIMEOUT_MS: '10000' })
    const { behaviour, letGo } = holdBack()
    moody.behave(behaviour)
    const answered: Awaited<ReturnType<Quote>>[] = []
    const quotes: Promise<unknown>[] = []
    for await (const _ of setInterval(PACE_MS)) {
      quotes.push(quote().then((answer) => answered.push(answer)))
      if (answered.length >= 5) break
    }
    const asks = moody.asks.length
    expect(asks).toBeGreaterThanOrEqual(3)
    for (let time = 0; time < 10; time++) expect((await quote()).offers).toEqual(WITHOUT_MOODY)
    expect(moody.asks.length).toBe(asks)
    expect((await measured()).benched).toBe(0)

    letGo()
    await Promise.all(quotes)
    const offers = answered.map((answer) => answer.offers)
    expect(offers.filter((each) => each.includes('moody'))).toEqual(Array(asks).fill(ALL))
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
    const { moody, quote, measured } = await openFixture(chain)
    moody.behave(behaviour)
    await expectPrompt(quote, WITHOUT_MOODY, 8)
    expect(moody.asks.length).toBe(8)
    moody.behave(wellMoody)
    await expectPrompt(quote, ALL, 1)
    expect(await measured()).toMatchObject({ benched: 0, validShare: 1 })
  })

  it.each([422, 404, 429, 501, 503])('is asked for the next offer after a decline by %i', async (status) => {
    const { moody, quote, measured } = await openFixture(chain)
    moody.behave(answerStatus(status))
    await expectPrompt(quote, WITHOUT_MOODY, 8)
    expect(moody.asks.length).toBe(8)
    moody.behave(wellMoody)
    await expectPrompt(quote, ALL, 1)
    expect(await measured()).toMatchObject({ benched: 0, validShare: 1 })
  })
})

describe('callers that do not wait for a slower solver leave its circuit breaker closed', () => {
  it.each([
    ['with a short deadline, one after the other', 1],
    ['with a short deadline, at once', 10],
  ])('when they call %s', async (_, atOnce) => {
    const { moody, steady, other, quote, measured } = await openFixture(chain)
    const { behaviour, letGo } = holdBack()
    moody.behave(behaviour)
    const inAHurry = { headers: { 'connect-timeout-ms': '30' } }
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: atOnce }, () => quote(inAHurry)))
    }
    expect(moody.asks.length).toBeGreaterThanOrEqual(3)
    letGo()
    await Promise.all([moody, steady, other].map((solver) => solver.catchUp()))
    await expectPrompt(quote, ALL)
    expect(await measured()).toMatchObject({ benched: 0, validShare: 1 })
  })

  it('when they hang up', async () => {
    const { moody, quote, measured } = await openFixture(chain, { QUOTE_TIMEOUT_MS: '5000' })
    for (let time = 0; time < 10; time++) {
      const [asked, cancelled] = [deferred(), deferred()]
      moody.behave(async (_ask, _solver, { response }) => {
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
    moody.behave(wellMoody)
    expect((await quote()).offers).toEqual(ALL)
    expect(await measured()).toMatchObject({ benched: 0, validShare: 1 })
  })
})

describe('when every solver fails', () => {
  it('each quote asks all of them, and has the first good reply at once', async () => {
    const { moody, steady, other, quote, measured } = await openFixture(chain)
    for (const solver of [moody, steady, other]) solver.behave(answerStatus(500))
    for (let time = 0; time < 10; time++) expect((await quote()).code).toBe('NO_QUOTES')
    expect((await measured()).benched).toBe(0)
    moody.behave(wellMoody)
    await expectPrompt(quote, ['moody'])
    expect([moody, steady, other].map(({ asks }) => asks.length)).toEqual([15, 15, 15])
  })

  it.each([
    ['status 500', answerStatus(500), 20],
    ['by hanging', hang, 4],
  ])('the next offer of the only solver is used at once: %s', async (_, behaviour, times) => {
    const { moody } = await startSolvers(chain)
    const { quote } = await startWithSolvers(chain, [moody], { QUOTE_TIMEOUT_MS: '300' })
    moody.behave(behaviour)
    for (let time = 0; time < times; time++) expect((await quote()).code).toBe('NO_QUOTES')
    expect(moody.asks.length).toBe(times)
    moody.behave(wellMoody)
    expect((await quote()).offers).toEqual(['moody'])
  })
})
