import { expect, test } from 'vitest'
import type { Chain } from '../../src/chain/chain.js'
import { createProvenTime } from '../../src/chain/chains.js'
import { createManualClock } from '../support/manual-clock.js'

const DAY_MS = 86_400_000

test('a clock that is 40 days ahead proves no time, and one that is an hour behind is believed', () => {
  const clock = createManualClock()
  const realMs = clock.now()
  const chain = (headMs?: number) => ({ headTimeMs: () => headMs }) as Chain
  const chains = new Map([
    [1, chain()],
    [2, chain(realMs - 5000)],
    [3, chain(realMs - DAY_MS)],
  ])
  const provenTime = createProvenTime(chains, clock.now)
  expect(provenTime()).toBe(realMs - 5000)
  clock.set(realMs + 40 * DAY_MS)
  expect(provenTime()).toBe(realMs - 5000)
  clock.set(realMs - 3_600_000)
  expect(provenTime()).toBe(realMs - 3_600_000)
})

test('no time is proven before a chain has answered', () => {
  expect(createProvenTime(new Map([[1, { headTimeMs: () => undefined } as Chain]]), Date.now)()).toBe(0)
})
