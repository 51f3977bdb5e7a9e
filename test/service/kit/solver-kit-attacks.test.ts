import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { SolverOptions } from '../../../packages/solver/src/solver-options.js'
import { RULES, user } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { HANG_MS } from '../../support/hang.js'
import { WETH_UNIT } from '../../support/solver-kit/fixed-price.js'
import { type Market, startMarket } from '../../support/solver-kit/market.js'

let market: Market

/** A solver with an endpoint. @returns asks it as a stranger does, who writes every field */
async function startEndpoint(options: Partial<SolverOptions> = {}) {
  const server = createServer((request, response) => solver.handler(request, response)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  const endpointUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const solver = market.solver({ endpointUrl, ...options })
  await solver.start()
  const { weth: inputToken, usdc: outputToken } = market.chain.contracts
  const { chainId } = market.chain
  const swap = { inputToken, outputToken, orderType: 'EXACT_INPUT', amount: String(WETH_UNIT) }
  const now = Math.floor(Date.now() / 1000)
  const usual = {
    ...swap,
    userAddress: user.address,
    chainId,
    destinationChainId: chainId,
    depositMode: 'CONTRACT',
  }
  return {
    solver,
    now,
    async ask(change: object, headers: Record<string, string> = {}) {
      const body = { ...usual, depositDeadline: now + 300, fillDeadline: now + 420, ...change }
      const response = await fetch(`${endpointUrl}/quote`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers,
      })
      const answer = (await response.json()) as { readonly code?: string }
      return { status: response.status, body: answer }
    },
  }
}

describe.each(RULES)('on the %s contract', (rules) => {
  beforeAll(async () => {
    market = await startMarket({}, rules)
  })
  afterAll(() => market?.close())

  it('a stranger gets no signature for past or far deadlines, a short fill window, or a price for a user', async () => {
    const { solver, now, ask } = await startEndpoint()
    const before = solver.metrics().openQuotes
    const declined = { status: 422, body: { error: 'declined', code: 'OTHER' } }
    expect(await ask({ depositDeadline: 1, fillDeadline: 1 })).toEqual(declined)
    expect(await ask({ depositDeadline: now - 5 })).toEqual(declined)
    expect(await ask({ depositDeadline: 4_294_967_000, fillDeadline: 4_294_967_290 })).toEqual(declined)
    expect(await ask({ depositDeadline: now + 300, fillDeadline: now + 301 })).toEqual(declined)
    expect(await ask({}, { 'x-quote-kind': 'indicative' })).toEqual(declined)
    expect(solver.metrics().openQuotes).toBe(before)
    expect((await ask({})).status).toBe(200)
  })

  it('one request cannot shut a solver out: a long lock promises little, and a large one is declined', async () => {
    const { solver, now, ask } = await startEndpoint({ maxLockSeconds: 86_400 })
    const day = { depositDeadline: now + 86_000, fillDeadline: now + 86_300 }
    const funds = 400n * WETH_UNIT
    expect(await ask({ ...day, amount: String(funds) })).toMatchObject({
      status: 422,
      body: { code: 'INSUFFICIENT_LIQUIDITY' },
    })
    const small = { ...day, amount: String(funds / 1_000n) }
    expect((await ask(small)).status).toBe(200)
    // The largest one for a usual time is still there.
    expect((await ask({ amount: String((funds * 24n) / 100n) })).status).toBe(200)
    expect(solver.metrics().declinedForLiquidity).toBe(1)
  })

  it('answers under way are bounded', async () => {
    const held: (() => void)[] = []
    const { ask } = await startEndpoint({
      quote: () => new Promise((resolve) => held.push(() => resolve({ decline: 'OTHER' }))),
    })
    const codes: unknown[] = []
    const headers = { 'x-request-deadline': String(Date.now() + HANG_MS) }
    // On a busy machine, some of the first ones are declined as well.
    async function askUntilFull(): Promise<void> {
      do codes.push((await ask({}, headers)).body.code)
      while (held.length < 64)
    }
    const asked = Array.from({ length: 70 }, askUntilFull)
    await eventually(
      async () => [held.length, codes.length],
      ([waiting, answered = 0]) => waiting === 64 && answered >= 6,
    )
    expect(new Set(codes)).toEqual(new Set(['PAUSED']))
    for (const release of held) release()
    await Promise.all(asked)
  })
})
