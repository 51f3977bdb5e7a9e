import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createCheckEndpoint } from '../../src/auction/check-endpoint.js'
import { createEndpointGuard } from '../../src/solvers/transport/endpoint-guard.js'
import { solver } from '../solvers/sample-solver.js'
import { createManualClock } from '../support/manual-clock.js'
import { contextOf } from './context.js'

const SECOND_MS = 1000
/** What a check of a second does at its end takes some turns of the event loop, and no time. */
const TURNS = 5

const CHAINS = new Map([[1, { quoteHasher: () => ({}) as never, quoteTypedData: () => ({}) as never }]])

const neverAnswers = () => new Promise<never>(() => {})
const fails = () => Promise.reject(new Error('no such name'))

/** The check of a solver whose host is resolved by a function. No connection is opened. */
function beginCheck(resolveAll: () => Promise<never>, production: boolean) {
  const clock = createManualClock()
  const context = contextOf({
    chains: CHAINS,
    endpointGuard: createEndpointGuard({ production, allowlist: [], resolveAll }),
    config: { production },
    clock,
  })
  const check = createCheckEndpoint(context, () => undefined)
  let outcome: string | undefined
  void check(solver(1)).then((result) => {
    outcome = result.outcome
  })
  return {
    clock,
    outcome: () => outcome,
    async pass(ms: number) {
      await clock.advance(ms)
      for (let turn = 0; turn < TURNS; turn++) await clock.advance(0)
    },
  }
}

test.each([true, false])(
  'a check ends with its second, although the name of the endpoint is not resolved (production: %s)',
  async (production) => {
    const { clock, outcome, pass } = beginCheck(neverAnswers, production)
    await pass(SECOND_MS - 1)
    expect(outcome()).toBeUndefined()
    await pass(1)
    expect(outcome()).toBe('failed')
    expect(clock.waiting).toBe(0)
  },
)

test('in production, a check that fails at once ends with its second, so that its time tells nothing', async () => {
  const { clock, outcome, pass } = beginCheck(fails, true)
  await pass(SECOND_MS - 1)
  expect(outcome()).toBeUndefined()
  await pass(1)
  expect(outcome()).toBe('failed')
  expect(clock.waiting).toBe(0)
})

test('a reply that has come by its end is read, although the process was paused until after it', async () => {
  const clock = createManualClock()
  const server = createServer((_request, response) => {
    response.writeHead(501).end()
    clock.standStill(2 * SECOND_MS)
    void clock.advance(0)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const context = contextOf({ chains: CHAINS, clock })
  const check = createCheckEndpoint(context, () => undefined)
  const { outcome } = await check(solver(1, { endpointUrl: `http://127.0.0.1:${port}` }))
  expect(outcome).toBe('declined')
  expect(clock.waiting).toBe(0)
})
