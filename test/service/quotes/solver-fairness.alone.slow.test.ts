import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import type { Behaviour, SolverRequest } from '../../support/solvers/solver.js'
import {
  answerStatus,
  fromNewClient,
  hang,
  healthyFaulty,
  openFixture,
} from '../../support/solvers/three-solvers.js'

const QUOTE_TIMEOUT_MS = 300
const HUGE = String(2n ** 256n - 1n)
const SLOWLY_MS = 200

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
})
afterAll(() => chain?.stop())

/** Answers in one way what an attacker requests, and in another what honest users request. */
function whenAsked(
  isAttack: (ask: SolverRequest) => boolean,
  attacked: Behaviour,
  usual: Behaviour,
): Behaviour {
  return (ask, ...rest) => (isAttack(ask) ? attacked : usual)(ask, ...rest)
}

const isHuge = (ask: SolverRequest) => ask.amount === HUGE
const isReversed = (ask: SolverRequest) => ask.inputToken.toLowerCase() === chain.contracts.usdc.toLowerCase()

const delayed =
  (ms: number, behaviour: Behaviour): Behaviour =>
  async (...parameters) => {
    await new Promise((resolve) => setTimeout(resolve, ms))
    return behaviour(...parameters)
  }
const zero: Behaviour = async (ask, { quoteFor, sign }) => sign({ ...quoteFor(ask), outputAmount: '0' })
const hangUp: Behaviour = async (_ask, _solver, { response }) => void response.destroy()

/** A service with three solvers, where the attacker owns one, `other`, and calls from many addresses. */
async function openAttackedFixture() {
  const ahead = { ms: 0 }
  const fixture = await openFixture(
    chain,
    { QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) },
    { clock: { ...systemClock, monotonic: () => performance.now() + ahead.ms } },
  )
  const { service, faulty, other, quote } = fixture
  const path = `/v1/${chain.chainId}/quote`
  const { weth, usdc } = chain.contracts
  const attacks = {
    huge: { ...quoteRequest(chain), amount: HUGE },
    reversed: { ...quoteRequest(chain), inputToken: usdc, outputToken: weth },
  }
  await quote()
  return {
    ...fixture,
    /** How far the clock of the solvers' health is ahead. */
    ahead,
    /** One client's quote. */
    async lonely() {
      await service.post(path, quoteRequest(chain), { headers: { 'x-forwarded-for': '203.0.113.1' } })
    },
    /** Requests what only the attacker's solver answers, each time from another address. */
    async attack(kind: keyof typeof attacks, times = 12) {
      const asksBefore = faulty.asks.length
      for (let time = 0; time < times; time++) {
        const { status, body } = await service.post(path, attacks[kind], fromNewClient())
        expect([status, body.quote?.solver]).toEqual([200, other.account.address])
      }
      return faulty.asks.length - asksBefore
    },
    /** The health of the honest solvers. */
    async honest() {
      const { circuitOpen } = await fixture.measured()
      return { circuitOpen }
    },
  }
}

describe('an attacker with a solver and many addresses does not exclude honest solvers from quotes', () => {
  const INNOCENT = { circuitOpen: 0 }

  it.each<[string, 'huge' | 'reversed', Behaviour]>([
    ['by amounts that they answer with 500', 'huge', answerStatus(500)],
    ['by dust that they price at 0', 'huge', zero],
    ['by amounts that break the connection', 'huge', hangUp],
    ['by a pair that they decline slowly', 'reversed', delayed(SLOWLY_MS, answerStatus(422))],
    ['by a pair that they never answer', 'reversed', hang],
  ])('%s', async (_, kind, attacked) => {
    const { faulty, steady, quote, attack, honest } = await openAttackedFixture()
    const isAttack = kind === 'huge' ? isHuge : isReversed
    faulty.behave(whenAsked(isAttack, attacked, healthyFaulty))
    steady.behave(whenAsked(isAttack, attacked, healthyFaulty))
    // All attacks reach the honest solver: it is neither open nor stalled. One that breaks its kept connection comes once more.
    expect(await attack(kind)).toBe(attacked === hangUp ? 13 : 12)
    expect(await honest()).toEqual(INNOCENT)
    expect((await quote()).offers).toContain('faulty')
  })
})

describe('a solver that costs callers their time', () => {
  it.each([
    ['by never answering', hang, 1],
    ['but not by declining long after the others', delayed(SLOWLY_MS, answerStatus(422)), 0],
  ])('opens its breaker with three clients: %s', async (_, behaviour, isOpen) => {
    const { faulty, quote, honest } = await openAttackedFixture()
    faulty.behave(behaviour)
    for (let client = 0; client < 3; client++) {
      expect((await honest()).circuitOpen).toBe(0)
      await quote()
    }
    expect((await honest()).circuitOpen).toBe(isOpen)
  })
})

describe('a solver that costs callers their time on purpose delays few of them', () => {
  const SECOND = 1000
  /** The user of the attacker, whom its solver always answers. */
  const ACCOMPLICE = '0x00000000000000000000000000000000000000aa'

  async function openSlowFixture() {
    const fixture = await openAttackedFixture()
    const { service, quote, ahead } = fixture
    const path = `/v1/${chain.chainId}/quote`
    return {
      ...fixture,
      /** Requests a quote as the accomplice, from one of three addresses. */
      async accomplice(number: number) {
        const headers = { 'x-forwarded-for': `203.0.113.${1 + (number % 3)}` }
        await service.post(path, { ...quoteRequest(chain), userAddress: ACCOMPLICE }, { headers })
      },
      /** A quote a second for as many clients. @returns which of them waited for the whole timeout */
      async victims(count: number, beforeEach: (victim: number) => Promise<void> = async () => {}) {
        const slow: number[] = []
        for (let victim = 0; victim < count; victim++) {
          await beforeEach(victim)
          if ((await quote()).elapsedMs > QUOTE_TIMEOUT_MS - 20) slow.push(victim)
          ahead.ms += SECOND
        }
        return slow
      },
    }
  }

  it('when it answers its own user only', async () => {
    const { faulty, victims, accomplice } = await openSlowFixture()
    const isAccomplice = (ask: SolverRequest) => ask.userAddress.toLowerCase() === ACCOMPLICE
    faulty.behave(whenAsked(isAccomplice, healthyFaulty, hang))
    const slow = await victims(150, accomplice)
    expect(slow.slice(0, 6)).not.toEqual([0, 1, 2, 3, 4, 5])
    expect(slow.length).toBeLessThan(30)
    // The open times grow: nearly all of the last quotes are quick.
    expect(slow.filter((victim) => victim >= 100).length).toBeLessThan(6)
  })
})
