import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import type { Behaviour } from '../../support/solvers/solver.js'
import {
  ALL,
  answerStatus,
  healthyFaulty,
  openFixture,
  WITHOUT_MOODY,
} from '../../support/solvers/three-solvers.js'

/** Just within the default of QUOTE_TIMEOUT_MS. */
const LATE_MS = 1900
const DEFAULTS = { QUOTE_TIMEOUT_MS: '2000', QUOTE_SOFT_TIMEOUT_MS: '500' }

const answerLate: Behaviour = async (...parameters) => {
  await new Promise((resolve) => setTimeout(resolve, LATE_MS))
  return healthyFaulty(...parameters)
}

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
})
afterAll(() => chain?.stop())

test('a solver that offers after 1.9 s costs one caller 0.55 s at the median, unless the caller waits', async () => {
  const { service, faulty } = await openFixture(chain, DEFAULTS)
  faulty.behave(answerLate)
  async function ask(changes: object = {}) {
    const start = performance.now()
    const { body } = await service.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...changes })
    return { tookMs: performance.now() - start, offers: [body, ...body.alternativeQuotes].length }
  }
  const times: number[] = []
  for (let quote = 0; quote < 7; quote++) times.push((await ask()).tookMs)
  expect(times.sort((one, other) => one - other)[3]).toBeLessThan(550)
  const patient = await ask({ softDeadlineMs: 0 })
  expect(patient.offers).toBe(ALL.length)
  expect(patient.tookMs).toBeGreaterThan(LATE_MS - 20)
})

test('its circuit breaker opens after three callers, and quotes return to the pace of the others', async () => {
  const { faulty, quote, measured } = await openFixture(chain, DEFAULTS)
  faulty.behave(answerLate)
  for (let caller = 0; caller < 3; caller++) expect((await quote()).offers).toEqual(WITHOUT_MOODY)
  expect((await measured()).circuitOpen).toBe(1)
  const times: number[] = []
  for (let caller = 0; caller < 20; caller++) times.push((await quote()).elapsedMs)
  expect(times.sort((one, other) => one - other)[10]).toBeLessThan(100)
})

test('a solver that declines late is no different', async () => {
  const { faulty, quote } = await openFixture(chain, DEFAULTS)
  faulty.behave(async (...parameters) => {
    await new Promise((resolve) => setTimeout(resolve, LATE_MS))
    return answerStatus(422)(...parameters)
  })
  const { offers, elapsedMs } = await quote()
  expect(offers).toEqual(WITHOUT_MOODY)
  expect(elapsedMs).toBeLessThan(550)
})
