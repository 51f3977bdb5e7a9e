import { type Address, encodeFunctionData, type Hex } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { testTokenAbi } from '../../../gen/contracts/test-token.js'
import { createDevnetClient, type DevAccount, devAccounts } from '../../../packages/cli/src/devnet/deploy.js'
import { createRandom } from '../random.js'
import { type BlockMiner, createBlockMiner, type MinedBlock } from './block-miner.js'
import { solverAccounts, type TestChain, user } from './chain.js'
import { type Action, createOrderActions, type Order, type Transaction } from './order-actions.js'
import { createOrderBook } from './order-book.js'
import { createRandomActions, type Traders } from './random-actions.js'

type Chain = Pick<TestChain, 'devnet' | 'chainId' | 'contracts' | 'domain'>

/** A range of blocks, both ends included. */
export interface BlockRange {
  fromBlock: number
  toBlock: number
}

export interface TrafficOptions extends Partial<Traders> {
  /**
   * 32 bits. Equal seeds make events of equal kinds and amounts for the same calls, if no reorganisation took
   * a second. Each traffic on one chain needs a seed of its own.
   */
  seed: number
}

/** The size of a random reorganisation. */
export interface RandomReorganisation {
  /** How many blocks are dropped. */
  depth: number
  /** How many new events the new blocks get, in addition to about half of the dropped ones. */
  events: number
  /** How many blocks the new chain has more than the old one. Default 0. */
  longerBy?: number
}

export type Traffic = Awaited<ReturnType<typeof createTraffic>>

/**
 * Anvil 1.7.1 moves states to disk from its 500th block on. A reorganisation down to one of those leaves no
 * code.
 */
const LOST_STATE =
  'anvil has lost the contracts: to go back that deep, start it with --prune-history and a number of blocks'
const UNLIMITED = 2n ** 256n - 1n
const FUNDS = 2n ** 200n
/** The bond token's smallest unit: enough for two hundred million open orders of the largest random size. */
const BOND = 10n ** 12n
const [defaultSolver, ...otherSolvers] = solverAccounts.slice(0, 3) as [DevAccount, ...DevAccount[]]

/**
 * Makes order events on a chain that no one else reorganises, and mints and approves what the traders need.
 * Blocks carry the time of the block before, not that of the wall clock, or as many seconds more as a refund
 * needs. The blocks of `run` move the chain's time on by a second in about every fourth block. The chain may
 * then be ahead of the wall clock by up to that much, and quotes of the service would have a late time.
 */
export async function createTraffic(chain: Chain, options: TrafficOptions) {
  const traders: Traders = {
    users: options.users ?? [user, devAccounts[8], devAccounts[9]],
    solvers: options.solvers ?? [defaultSolver, ...otherSolvers],
  }
  const random = createRandom(options.seed)
  const actions = await createOrderActions(chain, random)
  const randomActions = createRandomActions(random, actions, traders)
  const miner = await createBlockMiner(chain.devnet.rpcUrl)
  const book = createOrderBook()
  await prepare(chain, miner, traders)

  /** Updates the book for a chain that has lost its blocks above `blockNumber`. */
  async function forget(blockNumber: number): Promise<void> {
    book.truncate(blockNumber)
    const code = await miner.rpc.call<Hex>('eth_getCode', chain.contracts.settlement, 'latest')
    if (code === '0x') throw new Error(LOST_STATE)
  }

  /** Mines all the actions in one block. @throws Error when their times exclude each other, or one reverts */
  async function mine(batch: readonly Action[] = [], timestamp?: number): Promise<MinedBlock> {
    const block = await miner.mine(transactionsOf(batch), (parentTime) => {
      const time = timestamp ?? Math.max(parentTime, ...batch.map(({ notBefore }) => notBefore))
      const misfit = batch.find(({ notBefore, notAfter }) => time < notBefore || time > notAfter)
      if (!misfit) return time
      throw new Error(`${misfit.kind} of ${misfit.order.orderId} cannot be in a block of the time ${time}`)
    })
    book.record(block.number, batch)
    return block
  }

  /** Mines `blocks` blocks with `events` random events in all. */
  async function run({ events, blocks }: { events: number; blocks: number }): Promise<BlockRange> {
    const parent = await miner.blockAt('latest')
    let time = parent.timestamp
    for (const share of randomActions.shares(events, blocks)) {
      if (randomActions.ticks()) time++
      await mine(randomActions.block(book.open(), share, time, { isExact: true }), time)
    }
    return { fromBlock: parent.number + 1, toBlock: parent.number + blocks }
  }

  /**
   * Replaces the last `depth` blocks by the same number of others in one step. The new blocks begin with the
   * time of the block below them and continue at the wall clock's pace.
   * @param blocks the actions of each new block, the lowest first; omitted blocks are empty
   */
  async function reorganise(
    depth: number,
    blocks: readonly (readonly Action[])[] = [],
  ): Promise<MinedBlock[]> {
    const { number: head } = await miner.blockAt('latest')
    const mined = await miner.reorganise(depth, blocks.map(transactionsOf))
    await forget(head - depth)
    for (const [index, batch] of blocks.entries()) book.record(head - depth + 1 + index, batch)
    return mined
  }

  /** The same with random events, about half of the dropped ones among them, in any blocks. */
  async function reorganiseAtRandom({
    depth,
    events,
    longerBy = 0,
  }: RandomReorganisation): Promise<BlockRange> {
    const { number: head } = await miner.blockAt('latest')
    const ancestor = await miner.blockAt(head - depth)
    const open = book.openAt(ancestor.number)
    const dropped = randomActions.spread(book.actionsAfter(ancestor.number), depth)
    const shares = randomActions.shares(events, depth)
    const blocks = dropped.map((some, index) => [
      ...randomActions.again(open, some, ancestor.timestamp),
      ...randomActions.block(open, shares[index] ?? 0, ancestor.timestamp, { isExact: false }),
    ])
    await reorganise(depth, blocks)
    if (longerBy > 0) await run({ events: longerBy, blocks: longerBy })
    return { fromBlock: ancestor.number + 1, toBlock: head + longerBy }
  }

  return {
    /** The factories of actions. `order` is random. */
    actions,
    order: randomActions.order,
    mine,
    run,
    reorganise,
    reorganiseAtRandom,
    /** Removes the last `depth` blocks, and adds none. */
    async rollBack(depth: number): Promise<void> {
      await miner.rollBack(depth)
      await forget((await miner.blockAt('latest')).number)
    },
    /** Takes a snapshot of the chain. @returns what restores it, once, without new blocks */
    async snapshot(): Promise<() => Promise<void>> {
      const id = await miner.rpc.call<Hex>('evm_snapshot')
      return async () => {
        const isBack = await miner.rpc.call<boolean>('evm_revert', id)
        if (!isBack) throw new Error(`the chain knows no snapshot ${id}`)
        await forget((await miner.blockAt('latest')).number)
      }
    },
    /** The last block. */
    head: (): Promise<MinedBlock> => miner.blockAt('latest'),
    /** Orders that are deposited and neither filled nor refunded. */
    openOrders: (): Order[] => [...book.open().values()],
    /** The actions in the blocks above `blockNumber`, which a reorganisation down to there would drop. */
    actionsAfter: (blockNumber: number): Action[] => book.actionsAfter(blockNumber),
  }
}

function transactionsOf(batch: readonly Action[]): Transaction[] {
  return batch.flatMap(({ transactions }) => transactions)
}

async function prepare(chain: Chain, miner: BlockMiner, { users, solvers }: Traders): Promise<void> {
  const { settlement, weth, usdc, bondToken } = chain.contracts
  const client = createDevnetClient(chain.devnet, devAccounts[0])
  const get = (token: Address, holder: Address, amount: bigint): Transaction[] => [
    tokenCall(holder, token, 'mint', [holder, amount]),
    tokenCall(holder, token, 'approve', [settlement, UNLIMITED]),
  ]
  const bonds = solvers.map(async ({ address }): Promise<Transaction> => {
    const contract = { abi: settlementAbi, address: settlement } as const
    const [, , , , isRegistered] = await client.readContract({
      ...contract,
      functionName: 'solvers',
      args: [address],
    })
    const functionName = isRegistered ? 'addBond' : 'registerSolver'
    const data = encodeFunctionData({ abi: settlementAbi, functionName, args: [BOND] })
    return { from: address, to: settlement, data }
  })
  await miner.mine([
    ...users.flatMap(({ address }) => get(weth, address, FUNDS)),
    ...solvers.flatMap(({ address }) => [...get(usdc, address, FUNDS), ...get(bondToken, address, BOND)]),
    ...(await Promise.all(bonds)),
  ])
}

function tokenCall(
  from: Address,
  token: Address,
  functionName: 'mint' | 'approve',
  args: [Address, bigint],
): Transaction {
  return { from, to: token, data: encodeFunctionData({ abi: testTokenAbi, functionName, args }) }
}
