import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { WETH_UNIT } from '../support/solver-kit/fixed-price.js'
import { type KnownQuote, toKnown } from './known-quotes.js'
import {
  CHAIN_ID,
  createWorld,
  type Incarnation,
  SETTLEMENT,
  SOLVER,
  settlementCall,
  tokenCall,
  USDC,
  USERS,
  WETH,
} from './world.js'

const BLOCK_SECONDS = 2
/** The kit raises the fees of a payment that waits after 15 s, and counts a transaction without a receipt as replaced after 60. */
const PAID_WITHIN_SECONDS = 30
const HIGH_TIP = 2_500_000_000n

beforeAll(() => {
  vi.stubGlobal('fetch', async () => Response.json({ status: 'registered', address: SOLVER }))
})
afterAll(() => void vi.unstubAllGlobals())

/** A solver that runs, and the steps of its chain. */
async function startRunning() {
  const world = createWorld('reference')
  const { chain, clock } = world
  let incarnation = await start()

  async function passBlock(holdsSigned = false): Promise<void> {
    await clock.advance(BLOCK_SECONDS * 500)
    chain.mine(chain.head().timestamp + BLOCK_SECONDS, { holdsSigned })
    await clock.advance(BLOCK_SECONDS * 500)
  }

  async function start(): Promise<Incarnation> {
    const started = world.start()
    await started.node.asked
    while (started.progress === 'starting') await passBlock()
    return started
  }

  const isPaid = ({ orderId }: KnownQuote) =>
    world.contracts.settlement.order(orderId).state === OrderState.SETTLED

  return {
    chain,
    passBlock,
    async quote(depositSeconds: number): Promise<KnownQuote> {
      const now = chain.head().timestamp
      const body = {
        inputToken: WETH,
        outputToken: USDC,
        orderType: 'EXACT_INPUT',
        amount: String(WETH_UNIT),
        userAddress: USERS[0],
        chainId: CHAIN_ID,
        depositMode: 'CONTRACT',
        depositDeadline: now + depositSeconds,
        fillDeadline: now + depositSeconds + 120,
      }
      const { body: answer } = await incarnation.solver.answer({ body, headers: {} })
      return toKnown(world, answer as never, { isIndicative: false, isForAddress: false })
    },
    deposit({ quote, signature }: KnownQuote): void {
      chain.act(
        quote.user.toLowerCase() as Address,
        SETTLEMENT,
        settlementCall('deposit', [quote, signature]),
      )
    },
    /** Pays at the deposit address in a block that only a later process sees. */
    payAddress({ quote, depositAddress }: KnownQuote): void {
      world.kill(incarnation)
      chain.act(USERS[0], WETH, tokenCall('transfer', [depositAddress, quote.inputAmount]))
      chain.mine(chain.head().timestamp + BLOCK_SECONDS)
    },
    /** Passes blocks until an order is paid, or time is up. @returns whether it is paid */
    async isPaidInTime(known: KnownQuote): Promise<boolean> {
      const until = chain.head().timestamp + PAID_WITHIN_SECONDS
      while (!isPaid(known) && chain.head().timestamp < until) await passBlock()
      return isPaid(known)
    },
    async restart(): Promise<void> {
      world.kill(incarnation)
      incarnation = await start()
    },
    end: () => world.kill(incarnation),
  }
}

it('a payment that the node has lost is sent again with the least tip that it now takes', async () => {
  const running = await startRunning()
  const { chain, passBlock } = running
  const known = await running.quote(60)
  running.deposit(known)
  await passBlock()
  await passBlock(true)
  expect(chain.pendingCount() - chain.countOf(SOLVER)).toBe(1)
  chain.dropPool()
  chain.setMinTip(HIGH_TIP)
  expect(await running.isPaidInTime(known)).toBe(true)
  running.end()
})

it('a payment that the node has lost keeps its nonce over a restart, while another order is paid', async () => {
  const running = await startRunning()
  const { chain, passBlock } = running
  const [known, other] = [await running.quote(60), await running.quote(60)]
  running.deposit(known)
  await passBlock()
  await passBlock(true)
  chain.dropPool()
  chain.setMinTip(HIGH_TIP)
  running.payAddress(other)
  await running.restart()
  expect(await running.isPaidInTime(known)).toBe(true)
  expect(await running.isPaidInTime(other)).toBe(true)
  running.end()
})
