import { custom, numberToHex, type Transport } from 'viem'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import { deferred } from '../deferred.js'
import { bloomOf, EMPTY_TRIE_ROOT } from './bloom.js'
import { Revert } from './journal.js'
import { GAS, type ModelBlock, type ModelChain, type ModelReceipt, PoolError, TIP } from './model-chain.js'

/** A node of a model chain, for one process. */
export interface ModelNode {
  readonly transport: Transport
  /** Answers a call as the transport does. @throws with the `code` of JSON-RPC, and the `data` of a revert */
  request(call: Asked): Promise<unknown>
  /** Fulfils at the first call. */
  readonly asked: Promise<void>
  isUp(): boolean
  /** `down` refuses each call, `silent` never answers what comes meanwhile. */
  setState(state: 'up' | 'down' | 'silent'): void
  /** Answers in its place. @param intercepted gets each call, with what asks the node itself; without it the node answers again */
  intercept(intercepted?: Intercepted): void
  /** What each account has, in wei. */
  setBalance(wei: bigint): void
}

/** A call of JSON-RPC. */
export interface Asked {
  readonly method: string
  readonly params?: readonly unknown[]
}

/** @param answer asks the node itself, with other parameters if they are given */
type Intercepted = (asked: Asked, answer: (params?: readonly unknown[]) => unknown) => unknown

const askItself: Intercepted = (_asked, answer) => answer()

/** An error as a node answers it. */
export class NodeError extends Error {
  readonly code: number
  readonly data: Hex | undefined

  constructor(code: number, message: string, data?: Hex) {
    super(message)
    this.code = code
    this.data = data
  }
}

interface CallRequest {
  readonly from?: Address
  readonly to: Address
  readonly data: Hex
}

/** By number or tag, or by hash (EIP-1898). */
type BlockName = string | { readonly blockHash: string }

interface LogFilter {
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly blockHash?: Hex
  readonly address?: Address | readonly Address[]
  readonly topics?: readonly (Hex | readonly Hex[] | null)[]
}

const NOBODY: Address = '0x0000000000000000000000000000000000000000'
const NOT_FOUND = -32001
const HASH_LENGTH = 66

/** Builds a node that is up. */
export function createModelNode(chain: ModelChain, chainId: number): ModelNode {
  let state: 'up' | 'down' | 'silent' = 'up'
  let balance = 10n ** 20n
  let intercepted = askItself
  const methods = createMethods(chain, chainId, () => balance)
  const { opened: asked, open: setAsked } = deferred()

  async function request(call: Asked) {
    const { method, params = [] } = call
    setAsked()
    if (state === 'silent') return new Promise(() => {})
    if (state === 'down') throw new NodeError(-32000, 'the node is down')
    const answer = methods[method]
    if (answer === undefined) throw new NodeError(-32601, `the model node has no method ${method}`)
    return intercepted(call, (others = params) => answer(...others))
  }

  return {
    asked,
    request,
    transport: custom({ request }, { retryCount: 0 }),
    intercept(next = askItself) {
      intercepted = next
    },
    setBalance(wei) {
      balance = wei
    },
    isUp: () => state !== 'down',
    setState(next) {
      state = next
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: parameters of JSON-RPC
type Methods = Record<string, (...params: any[]) => unknown>

function createMethods(chain: ModelChain, chainId: number, balanceOf: () => bigint): Methods {
  const { contracts } = chain

  /** @throws NodeError for a block that the chain does not have */
  function asOf<T>(tag: BlockName, answer: (block: ModelBlock) => T): T {
    const block = blockAt(tag)
    if (block === undefined) throw new NodeError(NOT_FOUND, 'header not found')
    return block === chain.head() ? answer(block) : chain.asOf(block.number, () => answer(block))
  }

  /** @throws NodeError as nodes do for reverts */
  function simulate({ from = NOBODY, to, data }: CallRequest, { timestamp }: ModelBlock): Hex {
    try {
      return contracts.simulate({ sender: lowerCase(from), now: timestamp }, lowerCase(to), data)
    } catch (error) {
      if (!(error instanceof Revert)) throw error
      const bytes = error.errorName === '' ? '0x' : contracts.encodeRevert(error)
      throw new NodeError(3, 'execution reverted', bytes)
    }
  }

  function blockAt(tag: BlockName): ModelBlock | undefined {
    if (typeof tag === 'object') return chain.blocks.find(({ hash }) => hash === tag.blockHash)
    if (['latest', 'pending', 'safe', 'finalized'].includes(tag)) return chain.head()
    return chain.blocks.find(({ number }) => number === Number(tag))
  }

  return {
    eth_chainId: () => numberToHex(chainId),
    eth_blockNumber: () => numberToHex(chain.head().number),
    eth_getBlockByNumber: (tag: string) => toBlock(blockAt(tag), chain.baseFee()),
    eth_getBlockByHash: (hash: Hex) => toBlock(chain.known(hash), chain.baseFee()),
    eth_getLogs: (filter: LogFilter) => findLogs(chain, filter),
    eth_call: (call: CallRequest, tag: BlockName = 'latest') => asOf(tag, (block) => simulate(call, block)),
    eth_estimateGas(call: CallRequest) {
      simulate(call, chain.head())
      return numberToHex(GAS)
    },
    eth_maxPriorityFeePerGas: () => numberToHex(TIP),
    eth_gasPrice: () => numberToHex(chain.baseFee() + TIP),
    eth_getBalance: () => numberToHex(balanceOf()),
    eth_getCode: (address: Address) => (contracts.hasCode(lowerCase(address)) ? '0x00' : '0x'),
    eth_getTransactionCount: (account: Address, tag: string) =>
      numberToHex(
        tag === 'pending' ? chain.pendingCount() : asOf(tag, () => chain.countOf(lowerCase(account))),
      ),
    eth_sendRawTransaction(raw: Hex) {
      try {
        return chain.submit(raw)
      } catch (error) {
        if (error instanceof PoolError) throw new NodeError(-32000, error.message)
        throw error
      }
    },
    eth_getTransactionReceipt: (hash: Hex) => toReceipt(chain.receipt(hash), chain.baseFee()),
    eth_getBlockReceipts(tag: Hex) {
      const block = tag.length === HASH_LENGTH ? chain.known(tag) : blockAt(tag)
      return block?.receipts.map((receipt) => toReceipt(receipt, chain.baseFee())) ?? null
    },
    eth_getTransactionByHash(hash: Hex) {
      const transaction = chain.receipt(hash)?.transaction ?? chain.waiting(hash)
      if (transaction === undefined) return null
      const block = chain.receipt(hash)?.block
      return {
        ...transaction,
        input: transaction.data,
        nonce: numberToHex(transaction.nonce),
        maxFeePerGas: numberToHex(transaction.maxFeePerGas),
        maxPriorityFeePerGas: numberToHex(transaction.maxPriorityFeePerGas),
        blockHash: block?.hash ?? null,
        blockNumber: block === undefined ? null : numberToHex(block.number),
        type: '0x2',
      }
    },
  }
}

/** A block in the form of JSON-RPC. */
export function toBlock(block: ModelBlock | undefined, baseFee: bigint) {
  if (block === undefined) return null
  const { number, hash, parentHash, timestamp, receipts } = block
  return {
    number: numberToHex(number),
    hash,
    parentHash,
    timestamp: numberToHex(timestamp),
    baseFeePerGas: numberToHex(baseFee),
    gasLimit: '0x1c9c380',
    gasUsed: numberToHex(GAS * BigInt(receipts.length)),
    logsBloom: bloomOf(receipts.flatMap(({ logs }) => logs)),
    receiptsRoot: receipts.length === 0 ? EMPTY_TRIE_ROOT : hash,
    transactions: receipts.map(({ transaction }) => transaction.hash),
  }
}

function toReceipt(receipt: ModelReceipt | undefined, baseFee: bigint) {
  if (receipt === undefined) return null
  const { transaction, block, index, revert } = receipt
  return {
    transactionHash: transaction.hash,
    transactionIndex: numberToHex(index),
    blockHash: block.hash,
    blockNumber: numberToHex(block.number),
    from: transaction.from,
    to: transaction.to,
    status: revert === undefined ? '0x1' : '0x0',
    type: '0x2',
    gasUsed: numberToHex(GAS),
    cumulativeGasUsed: numberToHex(GAS * BigInt(index + 1)),
    effectiveGasPrice: numberToHex(baseFee + TIP),
    contractAddress: null,
    logsBloom: bloomOf(receipt.logs),
    logs: toLogs(receipt),
  }
}

function toLogs({ transaction, block, index, logs }: ModelReceipt) {
  // The logs of a block are counted from 0.
  const before = block.receipts.slice(0, index).reduce((count, earlier) => count + earlier.logs.length, 0)
  return logs.map((log, position) => ({
    ...log,
    blockHash: block.hash,
    blockNumber: numberToHex(block.number),
    blockTimestamp: numberToHex(block.timestamp),
    transactionHash: transaction.hash,
    transactionIndex: numberToHex(index),
    logIndex: numberToHex(before + position),
    removed: false,
  }))
}

/** @throws NodeError for a block that the chain does not have */
function findLogs(
  chain: ModelChain,
  { fromBlock, toBlock: last, blockHash, address, topics = [] }: LogFilter,
) {
  const head = chain.head().number
  const from = fromBlock === undefined || fromBlock === 'latest' ? head : Number(fromBlock)
  const to = last === undefined || last === 'latest' ? head : Number(last)
  const named = blockHash && chain.known(blockHash)
  if (blockHash !== undefined && named === undefined) throw new NodeError(NOT_FOUND, 'unknown block')
  const blocks = named ? [named] : chain.blocks.filter(({ number }) => number >= from && number <= to)
  const addresses =
    address === undefined ? undefined : [address].flat().map((one) => lowerCase(one as Address))
  return blocks
    .flatMap(({ receipts }) => receipts.flatMap(toLogs))
    .filter(
      (log) =>
        (addresses === undefined || addresses.includes(log.address)) &&
        topics.every(
          (wanted, index) => wanted === null || [wanted].flat().includes(log.topics[index] as never),
        ),
    )
}
