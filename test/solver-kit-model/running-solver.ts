import { expect, onTestFinished, vi } from 'vitest'
import { NO_USER } from '../../packages/protocol/src/quotes/quote.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { ChainOptions, SolverOptions } from '../../packages/solver/src/solver-options.js'
import type { Rules } from '../support/chain/chain.js'
import { OrderState } from '../support/chain/signed-quote.js'
import { WETH_UNIT } from '../support/solver-kit/fixed-price.js'
import { askSolver, type KnownQuote } from './known-quotes.js'
import {
  CHAIN_ID,
  createWorld,
  type Incarnation,
  SETTLEMENT,
  SOLVER,
  STRANGER,
  settlementCall,
  tokenCall,
  USERS,
  WETH,
} from './world.js'

/** What a request asks for. Deadlines in seconds from the newest block on. */
export interface Wanted {
  readonly isPrice?: boolean
  readonly isForAddress?: boolean
  /** WETH when left out. */
  readonly inputToken?: Address
  readonly user?: Address
  readonly depositSeconds?: number
  readonly fillSeconds?: number
}

/** A solver that has started, and what users and strangers do to it. */
export type RunningSolver = Awaited<ReturnType<typeof startRunning>>

/** The instance registers each solver until the test ends. */
export function registerAll(): void {
  vi.stubGlobal('fetch', async () => Response.json({ status: 'registered', address: SOLVER }))
  onTestFinished(() => void vi.unstubAllGlobals())
}

/** Starts it, until the test ends. @param limits change the options of its chain @param options and others */
export async function startRunning(
  rules: Rules = 'reference',
  limits: Partial<ChainOptions> = {},
  options: Partial<SolverOptions> = {},
) {
  registerAll()
  const world = createWorld(rules)
  const { chain, clock, contracts, passBlocks } = world

  async function begin(terms = limits, setUp: (begun: Incarnation) => void = () => {}) {
    const begun = world.start(options, terms)
    setUp(begun)
    await begun.node.asked
    for (let block = 0; block < 60 && begun.progress !== 'started'; block++) await passBlocks(1)
    expect(begun.progress, begun.errors.map(String).join()).toBe('started')
    return begun
  }

  /** Asks for a quote or a price of a number of milli-WETH. @returns undefined when it is declined */
  async function ask(milli: bigint, wanted: Wanted = {}): Promise<KnownQuote | undefined> {
    const { isPrice = false, isForAddress = false, inputToken = WETH, user = USERS[0] } = wanted
    const { depositSeconds = 10, fillSeconds = 60 } = wanted
    const depositDeadline = chain.head().timestamp + depositSeconds
    const { known } = await askSolver(
      world,
      incarnation,
      {
        inputToken,
        orderType: 'EXACT_INPUT',
        amount: (milli * WETH_UNIT) / 1000n,
        user: isPrice ? NO_USER : user,
        depositMode: isForAddress ? 'ADDRESS' : 'CONTRACT',
        depositDeadline,
        fillDeadline: depositDeadline + fillSeconds,
      },
      isPrice,
    )
    return known
  }

  const transfer = ({ quote, depositAddress }: KnownQuote, amount = quote.inputAmount) =>
    chain.act(STRANGER, WETH, tokenCall('transfer', [depositAddress, amount]))
  const refund = (call: 'refund' | 'refundAddressDeposit', { orderId, quote, signature }: KnownQuote) =>
    chain.act(STRANGER, SETTLEMENT, settlementCall(call, call === 'refund' ? [orderId] : [quote, signature]))
  const stateOf = ({ orderId }: KnownQuote) => contracts.settlement.order(orderId).state
  let incarnation = await begin()
  const end = () => world.kill(incarnation)
  /** Ends the process and starts another one. @param meanwhile what the chain does while none runs @param setUp changes the new one */
  async function restart(meanwhile: () => unknown, terms = limits, setUp?: (begun: Incarnation) => void) {
    end()
    await meanwhile()
    incarnation = await begin(terms, setUp)
  }
  onTestFinished(end)
  return {
    ...world,
    ...incarnation,
    errors: () => incarnation.errors.map(String),
    /** Passes blocks that have no transaction of the solver. */
    passHeld: (count: number) => passBlocks(count, 2, { holdsSigned: true }),
    /** Passes blocks until one is later than that time, in Unix seconds. */
    async passBeyond(time: number): Promise<void> {
      while (chain.head().timestamp <= time) await passBlocks(1)
    },
    /** Time goes on without a block, in milliseconds. */
    pass: (ms: number) => clock.advance(ms),
    standStill: clock.standStill,
    restart,
    /** Ends the process, and starts another one after some blocks, by which it knows the time between two. */
    restartAfter(blocks: number, seconds: number, setUp?: (begun: Incarnation) => void) {
      const pass = () => {
        for (let block = 0; block < blocks; block++) chain.mine(chain.head().timestamp + seconds)
        clock.set(chain.head().timestamp * 1000)
      }
      return restart(pass, limits, setUp)
    },
    cancelQuotes: () => incarnation.solver.cancelQuotes(CHAIN_ID),
    metrics: () => incarnation.solver.metrics(),
    bond: () => contracts.settlement.bondOf(SOLVER).totalBond,
    stateOf,
    isPaid: (known: KnownQuote) => stateOf(known) === OrderState.SETTLED,
    isUnused: ({ quote }: KnownQuote) => !contracts.settlement.isNonceUsed(SOLVER, quote.nonce),
    ask,
    /** As `ask`, for one that is not declined. */
    async quoteFor(milli: bigint, wanted: Wanted = {}): Promise<KnownQuote> {
      const known = await ask(milli, wanted)
      if (known === undefined) throw new Error('the request is declined')
      return known
    },
    deposit: ({ quote, signature }: KnownQuote) =>
      chain.act(USERS[0], SETTLEMENT, settlementCall('deposit', [quote, signature])),
    transfer,
    refund,
    /** A stranger pays at the address when it is too late, and has the solver slashed if the nonce is unused. */
    slash(known: KnownQuote): void {
      transfer(known)
      refund('refundAddressDeposit', known)
    },
    end,
  }
}
