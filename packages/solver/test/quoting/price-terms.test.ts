import { expect, it } from 'vitest'
import { NO_USER } from '../../../protocol/src/quotes/quote.js'

import { signs, startQuoting, WETH } from './quoting-fixture.js'

it.each<[string, number | undefined, { after: number; min?: number }, number]>([
  ['binds for as long as its maker says', 60, { after: 0, min: 60 }, 60],
  ['binds from now on', 60.5, { after: 1, min: 60 }, 62],
  ['binds no shorter than asked', 10, { after: 0, min: 30 }, 30],
  ['binds no longer than asked', 1000, { after: 0, min: 60 }, 300],
  ['binds for the whole window when its maker does not say', undefined, { after: 0, min: 60 }, 300],
  ['binds for the whole window when the request does not allow less', 60, { after: 0 }, 300],
  ['of an instance that mixes up its deadlines binds for the window', 60, { after: 0, min: 400 }, 300],
])('a price %s: %s s of %j, until %d', async (_how, expiresInSeconds, { after, min }, until) => {
  const { ask, request, pass } = startQuoting(() => ({ amount: 2_000n, expiresInSeconds }), signs)
  const start = request.depositDeadline - 300
  pass(after)
  const answer = await ask(undefined, { minDepositDeadline: min && start + min })
  const deadlines = { depositDeadline: start + until, fillDeadline: start + until + 120 }
  expect(answer).toMatchObject({ quote: deadlines })
})

it('a price that would bind for less than 2 s is declined', async () => {
  const { ask, request } = startQuoting(() => ({ amount: 2_000n, expiresInSeconds: 1 }), signs)
  const minDepositDeadline = request.depositDeadline - 299
  expect(await ask(undefined, { minDepositDeadline })).toEqual({ decline: 'OTHER' })
})

it('prices are kept as quotes are, and those of an output token share a nonce until the first one is over', async () => {
  const { kept, open, promised, askPrice } = startQuoting(() => ({ amount: 500n }), signs)
  await askPrice(0)
  await askPrice(100)
  await askPrice(0, WETH)
  await askPrice(300)
  await askPrice(301)
  const nonces = kept.map(({ nonce }) => nonce)
  const [usdc, , weth, , next] = nonces
  expect(nonces).toEqual([usdc, usdc, weth, usdc, next])
  expect(new Set([usdc, weth, next]).size).toBe(3)
  expect(promised).toEqual(new Set([usdc, weth, next]))
  // No user of a price is waited for at a deposit address.
  expect(kept.every(({ isForAddress, user }) => !isForAddress && user === NO_USER)).toBe(true)
  open.clear()
  await askPrice(302)
  expect(nonces).not.toContain(kept.at(-1)?.nonce)
})

it('a quote is never signed with the nonce of a price, and one that reserves no bond is too small', async () => {
  const amounts = [500n, 500n, 19n]
  const { kept, ask, askPrice } = startQuoting(() => ({ amount: amounts.shift() ?? 1n }), signs)
  await askPrice(0)
  await ask()
  expect(new Set(kept.map(({ nonce }) => nonce)).size).toBe(2)
  expect(await ask()).toEqual({ decline: 'AMOUNT_TOO_SMALL' })
})
