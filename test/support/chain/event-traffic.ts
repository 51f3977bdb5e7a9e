import { setTimeout as pause } from 'node:timers/promises'
import { type DevAccount, devAccounts, MIN_ORDER } from '../../../packages/cli/src/devnet/deploy.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import type { ModelBlock } from '../model-chain/model-chain.js'
import type { ModelTestChain } from '../model-chain/start-model-chain.js'
import { createRandom } from '../random.js'
import { solverAccounts, user } from './chain.js'
import { type Action, createOrderActions, type Order } from './order-actions.js'
import { OrderState } from './signed-quote.js'

/** A range of blocks, both ends included. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

interface TrafficOptions {
  /** 32 bits. Equal seeds make equal events. Each traffic on one chain needs a seed of its own. */
  readonly seed: number
  readonly users?: readonly [DevAccount, ...DevAccount[]]
}

/** The size of a random reorganisation. */
interface RandomReorganisation {
  /** How many blocks are dropped. */
  readonly depth: number
  /** How many new events the new blocks get, in addition to about half of the dropped ones. */
  readonly events: number
  /** How many blocks the new chain has more than the old one. Default 0. */
  readonly longerBy?: number
}

export type Traffic = Awaited<ReturnType<typeof createTraffic>>

const UNLIMITED = 2n ** 256n - 1n
const FUNDS = 2n ** 200n
/** The bond token's smallest unit: enough for two hundred million open orders of the largest random size. */
const BOND = 10n ** 12n
/** The contract takes deadlines of 32 bits. This one is after any time that a test travels to. */
const NEVER = { min: 4_000_000_000, max: 4_294_967_295 }
/** The longest time since the quote of a late address deposit ended. */
const PAST_SECONDS = 1_000_000
/** An order reserves 5% of it: thousands of orders fit a minimum bond. */
const MAX_OUTPUT = 100_000
const SOLVERS = solverAccounts.slice(0, 3) as [DevAccount, ...DevAccount[]]
/** Services read blocks as a node has them, one after the other. */
const BLOCK_MS = 10

/**
 * Makes order events on a chain that no one else reorganises. The traders have what they need. Blocks carry the time of the
 * block before, or as many seconds more as a refund needs. The blocks of `run` move the chain's time on by a second in about
 * every fourth block. The chain may then be ahead of the wall clock, and quotes of the service would have a late time.
 */
export async function createTraffic(
  chain: ModelTestChain,
  { seed, users = [user, devAccounts[8], devAccounts[9]] }: TrafficOptions,
) {
  const { model } = chain
  const random = createRandom(seed)
  const actions = createOrderActions(chain, random)
  const deposits: Order[] = []
  const actionsOf = new Map<string, readonly Action[]>()
  fundTraders(chain, users)

  /** An order of random size between random traders. */
  const order = (fillDeadline = random.integer(NEVER.min, NEVER.max)): Order =>
    actions.order({
      user: random.pick(users).address,
      solver: random.pick(SOLVERS),
      inputAmount: 1n + (random.uint256() >> 128n),
      outputAmount: BigInt(random.integer(Number(MIN_ORDER), MAX_OUTPUT)),
      fillDeadline,
    })

  /** Mines actions in one block. What reverts causes no event. */
  function mineAny(batch: readonly Action[], timestamp?: number): ModelBlock {
    for (const { from, to, data } of batch.flatMap(({ transactions }) => transactions))
      model.act(lowerCase(from), lowerCase(to), data)
    const times = [model.head().timestamp, ...batch.map(({ notBefore }) => notBefore)]
    const block = model.mine(timestamp ?? Math.max(...times))
    actionsOf.set(block.hash, batch)
    return block
  }

  /** Mines all the actions in one block. @throws Error when one reverts */
  async function mine(batch: readonly Action[] = [], timestamp?: number): Promise<ModelBlock> {
    const block = mineAny(batch, timestamp)
    const failed = block.receipts.find(({ revert }) => revert !== undefined)
    if (failed !== undefined) throw new Error(`a transaction of block ${block.number} ${failed.revert}`)
    return block
  }

  /** Random actions that succeed together in the next block. */
  function draw(count: number, time: number): Action[] {
    const isOpen = ({ orderId }: Order) =>
      model.contracts.settlement.order(orderId).state === OrderState.DEPOSITED
    const open = deposits.filter(isOpen)
    const fillable = open.filter(({ fillDeadline }) => fillDeadline >= NEVER.min)
    const refundable = open.filter(({ fillDeadline }) => fillDeadline < time)
    const takeFrom = (orders: Order[]) =>
      orders.splice(random.integer(0, Math.max(0, orders.length - 1)), 1)[0]
    function deposit(): Action {
      const made = order(random.integer(1, 3) === 1 ? time : undefined)
      deposits.push(made)
      if (made.fillDeadline >= NEVER.min) fillable.push(made)
      return actions.deposit(made)
    }
    function fill(): Action {
      const taken = takeFrom(fillable)
      return taken === undefined ? deposit() : actions.fill(taken)
    }
    function refund(): Action {
      const taken = takeFrom(refundable)
      return taken === undefined ? deposit() : actions.refund(taken)
    }
    function refundAddressDeposit(): Action {
      const late = order(time - random.integer(1, PAST_SECONDS))
      return actions.refundAddressDeposit(
        late,
        random.pick([late.inputAmount, late.inputAmount, 1n + late.inputAmount / 2n]),
      )
    }
    const settle = () => actions.settle(order())
    const kinds = [deposit, deposit, deposit, deposit, fill, fill, refund, settle, refundAddressDeposit]
    return Array.from({ length: count }, () => random.pick(kinds as [() => Action])())
  }

  /** How many of `events` are in each of `blocks`. Some blocks may get none. */
  function shares(events: number, blocks: number): number[] {
    const counts = new Array<number>(blocks).fill(0)
    for (let event = 0; event < events; event++) {
      const block = random.integer(0, blocks - 1)
      counts[block] = (counts[block] ?? 0) + 1
    }
    return counts
  }

  /** Mines `blocks` blocks with `events` random events in all. */
  async function run({ events, blocks }: { events: number; blocks: number }): Promise<BlockRange> {
    const { number } = model.head()
    for (const share of shares(events, blocks)) {
      const time = model.head().timestamp + (random.integer(1, 4) === 1 ? 1 : 0)
      await mine(draw(share, time), time)
      await pause(BLOCK_MS)
    }
    return { fromBlock: number + 1, toBlock: number + blocks }
  }

  return {
    /** The factories of actions. `order` is random. */
    actions,
    order,
    mine,
    run,
    /** Replaces the last blocks by as many others. @param blocks the actions of each, the lowest first; omitted blocks are empty */
    async reorganise(depth: number, blocks: readonly (readonly Action[])[] = []): Promise<void> {
      model.rollBack(depth)
      for (let index = 0; index < depth; index++) await mine(blocks[index])
    },
    /** The same with random events, about half of the dropped ones among them. */
    async reorganiseAtRandom({ depth, events, longerBy = 0 }: RandomReorganisation): Promise<void> {
      const dropped = model.rollBack(depth).map(({ hash }) => actionsOf.get(hash) ?? [])
      for (const [index, count] of shares(events, depth).entries()) {
        const { timestamp } = model.head()
        const again = (dropped[index] ?? []).filter(
          ({ notBefore }) => notBefore <= timestamp && random.integer(0, 1) === 0,
        )
        mineAny([...again, ...draw(count, timestamp)], timestamp)
      }
      if (longerBy > 0) await run({ events: longerBy, blocks: longerBy })
    },
    /** Removes the last blocks, and adds none. */
    rollBack: (depth: number) => void model.rollBack(depth),
    /** The last block. */
    head: () => model.head(),
  }
}

/** Gives users and solvers tokens that the contract may take, and solvers a bond. */
function fundTraders({ model, contracts }: ModelTestChain, users: readonly DevAccount[]): void {
  const { token, settlement, set } = model.contracts
  const fund = (of: 'weth' | 'usdc', owners: readonly DevAccount[]) => {
    for (const address of owners.map((owner) => lowerCase(owner.address))) {
      token(contracts[of]).mint(address, FUNDS)
      token(contracts[of]).approve(address, settlement.address, UNLIMITED)
    }
  }
  set(() => {
    fund('weth', users)
    fund('usdc', SOLVERS)
    token(contracts.bondToken).mint(settlement.address, BOND * BigInt(SOLVERS.length))
    for (const address of SOLVERS.map((solver) => lowerCase(solver.address)))
      settlement.setBond(address, {
        registered: true,
        totalBond: settlement.bondOf(address).totalBond + BOND,
      })
  })
}
