import { expect, it } from 'vitest'
import { startRunning } from './running-solver.js'

it('a slash by any of the prices that share a nonce is counted and reported', async () => {
  const { quoteFor, passBlocks, slash, errors, chain, metrics } = await startRunning()
  const small = await quoteFor(1_000n, { isPrice: true, depositSeconds: 10 })
  const large = await quoteFor(39_000n, { isPrice: true, depositSeconds: 12 })
  expect(large.quote.nonce).toBe(small.quote.nonce)
  chain.mine(large.quote.fillDeadline + 1)
  slash(large)
  await passBlocks(5)
  expect(metrics().missed).toBe(1)
  expect(errors().join('\n')).toContain(
    `order ${large.orderId} on chain 31337 was not paid by its fill deadline, and has cost`,
  )
})

it('quotes of one word of nonces count one by one, since they may not be due at the same time', async () => {
  const maxCancelFees = 10n ** 18n
  const { ask, passBlocks } = await startRunning('deployed', { maxCancelFees, pollIntervalMs: 1000 })
  await passBlocks(120, 12)
  let signed = 0
  while (signed < 100 && (await ask(1n, { depositSeconds: 400 })) !== undefined) signed++
  expect(signed).toBe(48)
})
