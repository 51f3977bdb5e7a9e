import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { NO_USER } from '../../../packages/protocol/src/quotes/quote.js'
import { freePort } from '../../support/free-port.js'
import { startProcess } from '../../support/process/process.js'
import { WETH_UNIT } from '../../support/solver-kit/fixed-price.js'
import { type Market, startMarket } from '../../support/solver-kit/market.js'

const CONNECTIONS = 32
const PAID_WITHIN_MS = 5_000
/** Answers until the flood counts as one. */
const FLOOD = /\b[1-9]\d{3,} answers/

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.close())

/** Starts a program of Node on the first core. */
function startOnOneCore(args: readonly string[]) {
  const started = startProcess('taskset', ['-c', '0', process.execPath, ...args], {})
  onTestFinished(() => void started.signal('SIGKILL'))
  return started
}

it('a deposit is paid within five seconds while 32 connections flood the endpoint, on one core', async () => {
  const endpointUrl = `http://127.0.0.1:${await freePort()}/${'f'.repeat(22)}`
  const options = JSON.stringify({ ...market.solverOptions(), endpointUrl })
  const solver = startOnOneCore(['--import', 'tsx', 'test/service/kit/solver-process.ts', options])
  await solver.waitFor(/^started$/m)
  const offer = await market.quote()
  const now = Math.floor(Date.now() / 1000)
  const { weth: inputToken, usdc: outputToken } = market.chain.contracts
  const { chainId } = market.chain
  const swap = { inputToken, outputToken, orderType: 'EXACT_INPUT', amount: String(WETH_UNIT / 1000n) }
  const times = { depositDeadline: now + 300, fillDeadline: now + 420 }
  const body = { ...swap, ...times, userAddress: NO_USER, chainId, depositMode: 'CONTRACT' }
  const url = `${endpointUrl}/quote`
  const args = ['test/service/kit/flood-endpoint.mjs', url, String(CONNECTIONS), JSON.stringify(body)]
  await startOnOneCore(args).waitFor(FLOOD)
  await market.deposit(offer)
  const depositedAt = performance.now()
  expect(await market.settlements(offer.orderId)).toBe(1)
  expect(performance.now() - depositedAt).toBeLessThan(PAID_WITHIN_MS)
})
