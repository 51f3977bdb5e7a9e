import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { NO_USER, noteHeaders, signedOver, startPriceFixture } from '../../support/service/price-fixture.js'
import { countConnections } from '../../support/service/server-connections.js'
import { honest, type TestSolver } from '../../support/solvers/solver.js'

let fixture: Awaited<ReturnType<typeof startPriceFixture>>

beforeAll(async () => {
  fixture = await startPriceFixture()
})
afterAll(() => fixture?.close())
beforeEach(() => fixture.reset())

/** Holds the replies of a solver. @returns `asked` resolves when a request has come, `release` sends the replies */
function hold(solver: TestSolver, behaviour = honest({ output: '3000' })) {
  const asked = deferred()
  const held = deferred()
  solver.behave(async (...exchange) => {
    asked.open()
    await held.opened
    return behaviour(...exchange)
  })
  return { asked: asked.opened, release: held.open }
}

describe('the request to solvers', () => {
  it('is sent once for equal requests, in whatever letter case', async () => {
    const swap = fixture.newSwap()
    const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`
    const spellings = [
      swap,
      { ...swap, inputToken: swap.inputToken.toLowerCase(), outputToken: swap.outputToken.toLowerCase() },
      { ...swap, inputToken: upper(swap.inputToken), outputToken: upper(swap.outputToken) },
    ]
    const answers = await Promise.all(spellings.map((spelling) => fixture.ask(spelling)))
    answers.push(await fixture.ask(swap))
    expect(answers.map(({ body }) => body)).toEqual(Array(4).fill(answers[0]?.body))
    expect([fixture.ada.asks.length, fixture.bob.asks.length]).toEqual([1, 1])
  })
})

describe('a caller that leaves', () => {
  /** A caller on a connection of its own. `leave` resolves when the service has noticed. */
  function startCaller(swap: object) {
    const connections = countConnections(fixture.service.url)
    const headers = { 'content-type': 'application/json' }
    const options = { method: 'POST', headers, agent: false }
    const call = request(`${fixture.service.url}/v1/${fixture.chain.chainId}/price`, options).on(
      'error',
      () => {},
    )
    call.end(JSON.stringify(swap))
    return {
      async leave() {
        const open = connections()
        call.destroy()
        await expect.poll(connections).toBeLessThan(open)
      },
    }
  }

  it('ends neither the auction nor the requests of the others', async () => {
    const { asked, release } = hold(fixture.ada)
    const swap = fixture.newSwap()
    const sharedBefore = await fixture.counted('shared')
    const caller = startCaller(swap)
    await asked
    const stayed = fixture.ask(swap)
    await eventually(
      () => fixture.counted('shared'),
      (count) => count === sharedBefore + 1,
    )
    await caller.leave()
    release()
    const { status, body } = await stayed
    expect([status, body.best.name, body.offers]).toEqual([200, 'Ada', 2])
    expect(fixture.ada.asks).toHaveLength(1)
  })
})

describe('the record of a price', () => {
  it("is read by a solver's id, and says that it is indicative", async () => {
    const { noted, noting } = noteHeaders(honest({ output: '2000' }))
    fixture.bob.behave(noting)
    const swap = fixture.newSwap()
    await fixture.ask(swap)
    expect(noted.headers['x-quote-kind']).toBe('indicative')
    const { status, body } = await fixture.readRecord(noted.headers['x-quote-id'])
    expect([status, body.kind]).toEqual([200, 'INDICATIVE'])
    expect(body.request).toMatchObject({ ...swap, userAddress: NO_USER })
    expect(body.solvers).toEqual([
      expect.objectContaining({ solver: fixture.bob.account.address, outcome: 'QUOTED', rank: 2 }),
    ])
  })
})

describe('the metrics', () => {
  const OF_QUOTES = [
    'aggregator_quotes_total',
    'aggregator_quote_idle_duration_seconds_count',
    'aggregator_solver_replies_total',
    'aggregator_solver_outcomes_total',
    'aggregator_solver_response_duration_seconds_count',
    'aggregator_solver_waited_for_last_total',
  ]
  const read = () => Promise.all(OF_QUOTES.map((name) => fixture.service.metric(name, {})))

  it('count prices on their own, and in none of the metrics of quotes and solvers', async () => {
    const outcomes = () => Promise.all(['quoted', 'no_quotes', 'cached'].map(fixture.counted))
    const [quotesBefore, before] = [await read(), await outcomes()]
    const swap = fixture.newSwap()
    await fixture.ask(swap)
    await fixture.ask(swap)
    for (const solver of [fixture.ada, fixture.bob]) solver.behave(signedOver({ inputAmount: '1' }))
    await fixture.ask()
    expect(await outcomes()).toEqual(before.map((count) => count + 1))
    expect(await read()).toEqual(quotesBefore)
    fixture.ada.behave(honest())
    await fixture.askForQuote()
    const after = await read()
    for (const [index, count] of after.entries()) expect(count).toBeGreaterThan(quotesBefore[index] ?? 0)
  })
})

describe('a nonce in an indicative offer', () => {
  it('may come again, and drops only offers that have it once it is used', async () => {
    const { send } = createCalls(fixture.chain.devnet, fixture.chain.contracts.settlement)
    fixture.bob.behave(signedOver({ nonce: '501' }))
    const later = await fixture.start()
    await fixture.bob.register(later)
    for (let time = 0; time < 5; time++)
      expect((await fixture.ask(fixture.newSwap(), {}, later)).status).toBe(200)

    await send(solverAccounts[1], 'cancelNonce', [501n])
    await eventually(
      () => fixture.ask(fixture.newSwap(), {}, later),
      ({ body }) => body.code === 'NO_QUOTES',
    )
    fixture.bob.behave(honest())
    expect((await fixture.askForQuote(later)).status).toBe(200)
    await later.close()
  })
})
