import type { Address, Hex } from 'viem'
import { expect, it } from 'vitest'
import { only } from '../../../../test/support/only.js'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { createLosses } from '../../src/risk/losses.js'
import { openState, toText } from '../../src/state.js'

const TOKEN: Address = `0x${'70'.repeat(20)}`
const USER: Address = `0x${'05'.repeat(20)}`
const OTHER: Address = `0x${'06'.repeat(20)}`
const HOUR = 3_600
const DAY = 24 * HOUR
const START = 2_000_000_000

/** What was lost of a bond of 10,000. */
function startLosses() {
  const state = openState(':memory:')
  let time = START
  const parts = { chain: { chainId: 1 }, state, time: { passed: () => time } }
  const build = () => createLosses(only(parts), only({ holdings: () => ({ totalBond: 10_000n }) }))
  let orders = 0
  return {
    build,
    losses: build(),
    pass(seconds: number) {
      time += seconds
    },
    /** An order of the user is told as missed. */
    lose(cost: bigint, deposit?: 'CONTRACT', isForAddress = false): void {
      const orderId: Hex = `0x${String(++orders).padStart(64, '0')}`
      const quote = only<Quote>({ fillDeadline: time })
      state.addQuote({
        chainId: 1,
        orderId,
        depositAddress: TOKEN,
        signature: '0x',
        isForAddress,
        quote,
      })
      const entry = toText({ cost, deposit, user: USER, outputToken: TOKEN })
      state.setBookEntry({ id: orderId, chainId: 1, time, kind: 'MISSED', entry })
    },
  }
}

it('a slash at a deposit address declines quotes for such for a day, and all slashes of a day count, also after a restart', () => {
  const { losses, build, pass, lose } = startLosses()
  lose(5n)
  expect([losses.areAddressesDeclined(), losses.ofDay()]).toEqual([false, 5n])
  pass(60)
  lose(7n, undefined, true)
  pass(DAY - 61)
  expect([losses.areAddressesDeclined(), build().areAddressesDeclined(), build().ofDay()]).toEqual([
    true,
    true,
    12n,
  ])
  pass(1)
  expect([losses.areAddressesDeclined(), losses.ofDay()]).toEqual([true, 7n])
  pass(60)
  expect([losses.areAddressesDeclined(), losses.ofDay()]).toEqual([false, 0n])
})

it('the user of an order that was missed at the contract is declined for a week, and its output token for an hour when such have cost more than a hundredth', () => {
  const { losses, build, pass, lose } = startLosses()
  const hasMissed = () => [USER, OTHER].map((user) => build().hasMissed({ outputToken: TOKEN, user }))
  lose(200n)
  expect([hasMissed(), losses.isRefused(TOKEN)]).toEqual([[false, false], false])
  lose(100n, 'CONTRACT')
  expect([hasMissed(), losses.isRefused(TOKEN)]).toEqual([[true, false], false])
  pass(HOUR - 1)
  lose(1n, 'CONTRACT')
  expect([hasMissed(), losses.isRefused(TOKEN)]).toEqual([[true, true], true])
  expect(losses.hasMissed({ outputToken: OTHER, user: USER })).toBe(false)
  pass(1)
  expect([hasMissed(), losses.isRefused(TOKEN)]).toEqual([[true, false], false])
  pass(7 * DAY)
  expect(hasMissed()).toEqual([false, false])
})
