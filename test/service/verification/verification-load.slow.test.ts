import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCalls } from '../../support/chain/contract-calls.js'
import {
  marksOf,
  startVerifyingService,
  type VerifyingService,
} from '../../support/service/verifying-service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

/** More than all places of the budget. */
const QUOTES = 30
const OFFERS = 3 * QUOTES

let on: VerifyingService

beforeAll(async () => {
  on = await startVerifyingService()
})
afterAll(() => on?.close())
beforeEach(async () => {
  on.reset()
  // The endpoint is checked before.
  await on.ask({ verify: 'best' })
  on.reset()
})

const unknown = () => on.service.metric('aggregator_verifications_total', { result: 'unknown' })

/** Holds the checks of many quotes. @returns a function that lets them pass, and expects that they end */
async function fillBudget() {
  const release = on.holdVerifications()
  const before = await unknown()
  const begun = async () => (await unknown()) - before + on.verifications()
  const many = Array.from({ length: QUOTES }, () => on.ask({ verify: 'all' }))
  await expect.poll(begun).toBe(OFFERS)
  return {
    begun,
    async release() {
      release()
      for (const { body } of await Promise.all(many)) expect(marksOf(body)[0]).toEqual(['3000', true])
    },
  }
}

it('quotes with all offers checked leave room to check the best offer of another one', async () => {
  const { begun, release } = await fillBudget()
  const best = on.ask({ verify: 'best' })
  await expect.poll(begun).toBe(OFFERS + 1)
  await release()
  expect(marksOf((await best).body)[0]).toEqual(['3000', true])
})

it('quotes without checks, and reads of the chain, do not wait for checks', async () => {
  const { release } = await fillBudget()
  expect(marksOf((await on.ask({})).body)).toHaveLength(3)
  const { client } = createCalls(on.chain.devnet, on.chain.contracts.settlement)
  await client.mine({ blocks: 1 })
  const head = Number(await client.getBlockNumber())
  const headBlock = async () => Number((await on.service.get('/v1/chains')).body.chains[0].headBlock)
  await expect.poll(headBlock).toBe(head)
  await release()
})

describe('a caller that leaves ends the checks of its offers', () => {
  it('on REST', async () => {
    const release = on.holdVerifications()
    const before = await unknown()
    const leaving = new AbortController()
    const request = { ...quoteRequest(on.chain), verify: 'all' }
    const asking = on.service.post(`/v1/${on.chain.chainId}/quote`, request, { signal: leaving.signal })
    await expect.poll(on.verifications).toBe(3)
    leaving.abort()
    await expect(asking).rejects.toThrow()
    await expect.poll(unknown).toBe(before + 3)
    release()
  })
})
