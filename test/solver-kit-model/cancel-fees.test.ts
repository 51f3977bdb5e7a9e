import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { WETH_UNIT } from '../support/solver-kit/fixed-price.js'
import { BASE_FEE, GAS, TIP } from './model-chain.js'
import { CHAIN_ID, createWorld, SOLVER, USDC, USERS, WETH } from './world.js'

const BLOCK_SECONDS = 2
const DEPOSIT_SECONDS = 60
/** What a cancellation costs on the chain of the model. */
const COST = GAS * (BASE_FEE + TIP)
/** The kit allows a fifth more gas, and viem a fifth more base fee. */
const HIGHEST_COST = ((GAS * 6n) / 5n) * ((BASE_FEE * 6n) / 5n + TIP)

beforeAll(() => {
  vi.stubGlobal('fetch', async () => Response.json({ status: 'registered', address: SOLVER }))
})
afterAll(() => void vi.unstubAllGlobals())

/** A solver whose cancellations may cost this much in an hour. */
async function startRunning(maxCancelFees: bigint) {
  const world = createWorld('reference')
  const { chain, clock } = world
  const incarnation = world.start({ maxOpenBond: 1 }, { maxCancelFees })
  const { solver, errors } = incarnation

  async function passBlocks(blocks: number, seconds = BLOCK_SECONDS): Promise<void> {
    for (let block = 0; block < blocks; block++) {
      await clock.advance(seconds * 500)
      chain.mine(chain.head().timestamp + seconds)
      await clock.advance(seconds * 500)
    }
  }

  await incarnation.node.asked
  while (incarnation.progress === 'starting') await passBlocks(1)
  return {
    solver,
    errors,
    passBlocks,
    async quote() {
      const now = chain.head().timestamp
      const body = {
        inputToken: WETH,
        outputToken: USDC,
        orderType: 'EXACT_INPUT',
        amount: String(WETH_UNIT),
        userAddress: USERS[0],
        chainId: CHAIN_ID,
        depositMode: 'CONTRACT',
        depositDeadline: now + DEPOSIT_SECONDS,
        fillDeadline: now + 2 * DEPOSIT_SECONDS,
      }
      const { status } = await solver.answer({ body, headers: {} })
      return status
    },
    end: () => world.kill(incarnation),
  }
}

it('a spent budget is reported once in an hour, quotes stay open, and the solver pauses until there is room', async () => {
  const { solver, errors, passBlocks, quote, end } = await startRunning(COST + HIGHEST_COST - 1n)
  for (let count = 0; count < 3; count++) expect(await quote()).toBe(200)
  await passBlocks((3 * DEPOSIT_SECONDS) / BLOCK_SECONDS)
  expect(errors.map(String)).toEqual([expect.stringContaining('more than maxCancelFees in an hour')])
  expect([solver.metrics().openQuotes, await quote()]).toEqual([2, 422])
  await passBlocks(3_600 / 60 + 1, 60)
  expect(solver.metrics().openQuotes).toBe(1)
  expect(errors.length).toBe(2)
  end()
})

it('quotes that cannot be cancelled now are open, and the others are cancelled', async () => {
  const { solver, passBlocks, quote, end } = await startRunning(HIGHEST_COST)
  for (let count = 0; count < 3; count++) await quote()
  const cancelled = solver.cancelQuotes(CHAIN_ID)
  await passBlocks(3)
  const outcomes = (await cancelled).map(({ outcome }) => outcome)
  expect(outcomes.toSorted()).toEqual(['CANCELLED', 'OPEN', 'OPEN'])
  end()
})
