import { type Address, decodeErrorResult, type Hash, type Hex } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { testTokenAbi } from '../../../gen/contracts/test-token.js'
import { createBatchRpc, quantity, type RpcCall } from './batch-rpc.js'
import type { Transaction } from './order-actions.js'

/** A block's number and hash, and its time in Unix seconds. */
export interface MinedBlock {
  number: number
  hash: Hash
  timestamp: number
}

interface RpcBlock {
  number: Hex
  hash: Hash
  timestamp: Hex
  transactions: Hash[]
}

interface RpcReceipt {
  transactionHash: Hash
  status: Hex
}

const GAS = quantity(1_000_000)
/** Room for two thousand transactions a block, by their gas limit and not by the gas that they use. */
const BLOCK_GAS_LIMIT = quantity(2_000_000_000)
/** Anvil orders transactions by the price that they offer: a falling price keeps the given order. */
const HIGHEST_FEE = 100_000_000_000n
const TIP = quantity(1)
const ERRORS = [...settlementAbi, ...testTokenAbi].filter((item) => item.type === 'error')

export type BlockMiner = Awaited<ReturnType<typeof createBlockMiner>>

/**
 * Mines chosen blocks on an anvil chain that mines each transaction at once. Between the calls the chain goes
 * on doing so. No one else may send transactions during a call.
 */
export async function createBlockMiner(rpcUrl: string) {
  const rpc = createBatchRpc(rpcUrl)
  await rpc.call('evm_setBlockGasLimit', BLOCK_GAS_LIMIT)

  async function blockAt(tag: number | 'latest'): Promise<MinedBlock> {
    const name = tag === 'latest' ? tag : quantity(tag)
    return blockOf(await rpc.call<RpcBlock | null>('eth_getBlockByNumber', name, false), tag)
  }

  /** Continues the nonces of each sender. */
  function numbered(transactions: readonly Transaction[], counts: ReadonlyMap<Address, Hex>): RpcCall[] {
    const sent = new Map<Address, number>()
    return transactions.map((transaction, position) => {
      const earlier = sent.get(transaction.from) ?? Number(counts.get(transaction.from))
      sent.set(transaction.from, earlier + 1)
      const fee = { maxFeePerGas: quantity(HIGHEST_FEE - BigInt(position)), maxPriorityFeePerGas: TIP }
      return ['eth_sendTransaction', { gas: GAS, ...transaction, nonce: quantity(earlier), ...fee }]
    })
  }

  async function openMempool(transactions: readonly Transaction[]) {
    const senders = [...new Set(transactions.map(({ from }) => from))]
    const [, latest, ...counts] = await rpc.batch([
      ['evm_setAutomine', false],
      ['eth_getBlockByNumber', 'latest', false],
      ...senders.map((from): RpcCall => ['eth_getTransactionCount', from, 'latest']),
    ])
    const countsBySender = new Map(senders.map((from, index) => [from, counts[index] as Hex]))
    return { parent: blockOf(latest as RpcBlock | null, 'latest'), countsBySender }
  }

  /** @throws Error when the block does not hold exactly these transactions, or one of them reverted */
  async function checkedBlock(number: number, wanted: number | readonly Hash[]): Promise<MinedBlock> {
    const [found, receipts] = await rpc.batch([
      ['eth_getBlockByNumber', quantity(number), false],
      ['eth_getBlockReceipts', quantity(number)],
    ])
    const block = blockOf(found as RpcBlock | null, number)
    const { transactions } = found as RpcBlock
    const isWanted =
      typeof wanted === 'number' ? transactions.length === wanted : transactions.join() === wanted.join()
    if (!isWanted || (receipts as RpcReceipt[]).length !== transactions.length) {
      throw new Error(`block ${number} holds other transactions than expected`)
    }
    const failed = (receipts as RpcReceipt[]).find(({ status }) => status !== '0x1')?.transactionHash
    if (failed === undefined) return block
    const reason = await revertReason(failed)
    throw new Error(`transaction ${transactions.indexOf(failed)} of block ${number} reverted: ${reason}`)
  }

  async function revertReason(hash: Hash): Promise<string> {
    const tracer = { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } }
    const { output } = await rpc.call<{ output?: Hex }>('debug_traceTransaction', hash, tracer)
    if (output === undefined) return 'no reason'
    const { errorName, args } = decodeErrorResult({ abi: ERRORS, data: output })
    return `${errorName}(${args?.join(', ') ?? ''})`
  }

  return {
    rpc,
    blockAt,
    /**
     * Mines one block with these transactions, in this order.
     * @param timeAfter gives the block's time, Unix seconds, from the last block's
     * @throws Error when a transaction reverts, or is not in that block
     */
    async mine(
      transactions: readonly Transaction[],
      timeAfter: (parentTime: number) => number = (parentTime) => parentTime,
    ): Promise<MinedBlock> {
      try {
        const { parent, countsBySender } = await openMempool(transactions)
        const timestamp = timeAfter(parent.timestamp)
        const hashes = await rpc.batch<Hash>(numbered(transactions, countsBySender))
        await rpc.call('evm_mine', timestamp)
        return await checkedBlock(parent.number + 1, hashes)
      } finally {
        await rpc.call('anvil_dropAllTransactions')
        await rpc.call('evm_setAutomine', true)
      }
    },
    /**
     * Replaces the last `depth` blocks by the same number of others at once.
     * @param blocks the transactions of each, the lowest first; omitted blocks are empty
     * @throws Error when one reverts
     */
    async reorganise(depth: number, blocks: readonly (readonly Transaction[])[]): Promise<MinedBlock[]> {
      const { number: head } = await blockAt('latest')
      const pairs = blocks.flatMap((transactions, index) =>
        transactions.map((transaction) => [{ gas: GAS, ...transaction }, index]),
      )
      await rpc.call('anvil_reorg', depth, pairs)
      const replaced: MinedBlock[] = []
      for (let number = head - depth + 1; number <= head; number++) {
        replaced.push(await checkedBlock(number, blocks[number - head + depth - 1]?.length ?? 0))
      }
      return replaced
    },
    /** Removes the last `depth` blocks. */
    rollBack: (depth: number) => rpc.call('anvil_rollback', depth),
  }
}

function blockOf(block: RpcBlock | null, tag: number | 'latest'): MinedBlock {
  if (block === null) throw new Error(`the chain has no block ${tag}`)
  return { number: Number(block.number), hash: block.hash, timestamp: Number(block.timestamp) }
}
