import { afterAll, beforeAll, expect, it } from 'vitest'
import { serve } from '../../../packages/client/test/server.js'
import type { AnswerResult } from '../../../packages/solver/src/session/session-messages.js'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { freePort } from '../../support/free-port.js'
import { startService } from '../../support/service/service.js'
import { PRICE, WETH_UNIT } from '../../support/solver-kit/fixed-price.js'
import { type Market, startMarket } from '../../support/solver-kit/market.js'

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.close())

it('a solver with a session quotes, and fills an order that was deposited at the contract', async () => {
  const results: AnswerResult[] = []
  const told: object[] = []
  const solver = market.solver({
    onResult: (result) => results.push(result),
    onDeposit: (order) => told.push(order),
  })
  await solver.start()
  const { usdc } = market.chain.contracts
  const before = await market.calls.balanceOf(usdc, user.address)
  const offer = await market.quote()
  expect(offer.quote).toMatchObject({ outputAmount: String(PRICE), solver: solverAccounts[0].address })
  await market.deposit(offer)
  expect(await market.settlements(offer.orderId)).toBe(1)
  await expect.poll(() => solver.filled).toEqual([offer.orderId])
  expect((await market.calls.balanceOf(usdc, user.address)) - before).toBe(PRICE)
  const asked = { inputToken: market.chain.contracts.weth, amount: WETH_UNIT }
  expect(results).toMatchObject([{ outcome: 'QUOTED', request: asked, outputAmount: PRICE }])
  // Its own id of the quote, as the results have it.
  const terms = { orderId: offer.orderId, quoteId: results[0]?.id, user: user.address, outputAmount: PRICE }
  expect(told).toMatchObject([{ ...terms, deposit: 'CONTRACT', transactionHash: expect.any(String) }])
  // The quote is released after its order has been reported: the holdings are read first.
  const counts = { quoted: 1, deposits: 1, paymentsSent: 1, filled: 1, openQuotes: 0 }
  await expect.poll(() => solver.metrics()).toMatchObject(counts)
  expect(solver.errors).toEqual([])
})

it('a solver with an endpoint registers it, quotes there, and fills', async () => {
  const [, account] = solverAccounts
  const { url: endpointUrl } = await serve((request, response) => solver.handler(request, response))
  const solver = market.solver({ endpointUrl }, account)
  expect((await fetch(`${endpointUrl}/quote`, { method: 'POST', body: '{}' })).status).toBe(503)
  await solver.start()
  for (const pay of [market.deposit, market.payAddress]) {
    const offer = await market.quote()
    expect(offer.quote.solver).toBe(account.address)
    await pay(offer)
    expect(await market.settlements(offer.orderId)).toBe(1)
  }
  expect(solver.errors).toEqual([])
})

it('a solver whose instance shuts down connects to the next URL, and fills the orders of both', async () => {
  const other = await startService(market.chain)
  const urls: string[] = []
  const solver = market.solver({
    aggregatorUrl: [other.url, market.service.url],
    onSession: (change) => change.state === 'open' && urls.push(change.url),
  })
  await solver.start()
  const { weth: inputToken, usdc: outputToken } = market.chain.contracts
  const { chainId } = market.chain
  const swap = { inputToken, outputToken, orderType: 'EXACT_INPUT', amount: String(WETH_UNIT) }
  const chains = { originChainId: chainId, destinationChainId: chainId }
  const terms = { ...swap, ...chains, userAddress: user.address, depositMode: 'CONTRACT' }
  const { body: first } = await other.post(`/v1/${chainId}/quote`, terms)
  await other.close()
  await expect.poll(() => urls).toEqual([other.url, market.service.url])
  const second = await market.quote()
  for (const offer of [first, second]) {
    await market.deposit(offer)
    expect(await market.settlements(offer.orderId)).toBe(1)
  }
})

it('a solver serves its metrics and its health until it is closed', async () => {
  const metricsPort = await freePort()
  const url = `http://127.0.0.1:${metricsPort}`
  const solver = market.solver({ metricsPort })
  await solver.start()
  const health = await fetch(`${url}/health`)
  expect([health.status, await health.json()]).toEqual([200, { problems: [] }])
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('\nsolver_session_open 1\n')
  await solver.close()
  await expect(fetch(`${url}/health`)).rejects.toThrow()
})
