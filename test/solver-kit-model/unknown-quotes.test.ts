import { expect, it } from 'vitest'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { Rules } from '../support/chain/chain.js'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { WETH_UNIT } from '../support/solver-kit/fixed-price.js'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import { FEE_TOKEN, WETH } from './world.js'

/** Without a file, a restart loses all quotes. `acceptLess` has no say in quotes that are not known. */
const FORGETFUL = { stateFile: undefined, acceptLess: () => true }

const reportsOf = (known: KnownQuote, errors: readonly string[]) =>
  errors.filter((error) => error.includes(`order ${known.orderId} has`))

it.each<[string, Rules, Address, number, bigint?]>([
  ['is paid when all has arrived that the event says', 'reference', WETH, OrderState.SETTLED],
  [
    'is reported and not paid when less has arrived than the event says',
    'deployed',
    FEE_TOKEN,
    OrderState.DEPOSITED,
    (WETH_UNIT * 99n) / 100n,
  ],
])('an order whose quote the kit has lost %s', async (_title, rules, inputToken, state, arrived) => {
  const { quoteFor, deposit, restart, passBlocks, stateOf, errors } = await startRunning(rules, {}, FORGETFUL)
  const known = await quoteFor(1_000n, { inputToken })
  await restart(() => void deposit(known))
  await passBlocks(5)
  expect(stateOf(known)).toBe(state)
  const words = `Error: order ${known.orderId} has ${arrived} of the input of ${WETH_UNIT}, and is not paid`
  expect(reportsOf(known, errors())).toEqual(arrived === undefined ? [] : [words])
})
