import { type Address, encodeEventTopics, erc20Abi, type Hex, numberToHex, pad, parseAbiItem } from 'viem'
import { expect, onTestFinished } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { createModelChain, type ModelBlock } from '../../../../test/support/model-chain/model-chain.js'
import type { ModelContracts } from '../../../../test/support/model-chain/model-contracts.js'
import { createModelNode } from '../../../../test/support/model-chain/model-node.js'
import { only } from '../../../../test/support/only.js'
import { toRpcError } from '../../../chain/src/json-rpc.js'
import type { ChainParts } from '../../src/chain/chain-parts.js'
import { createChainTime } from '../../src/chain/chain-time.js'
import { pollDeposits } from '../../src/chain/deposit-poller.js'
import type { Filling } from '../../src/orders/filling.js'

const DEPOSITED = parseAbiItem(
  'event Deposited(bytes32 indexed orderId, address indexed user, address indexed solver, address inputToken, uint256 inputAmount, address outputToken, uint256 outputAmount, uint32 fillDeadline)',
)
const [TRANSFER] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' })
const SOLVER = `0x${'0a'.repeat(20)}` as const
const SETTLEMENT = `0x${'5e'.repeat(20)}` as const
export const TOKEN = `0x${'0b'.repeat(20)}` as const
export const POLL_MS = 1_000
const CONFIRMATIONS = 20
export const NEVER = new Promise<never>(() => {})

export const answered = (code: number, message: string) => toRpcError({ code, message }, String)
export const addressOf = (index: number) => pad(numberToHex(index), { size: 20 })
const toAddress = (word: Hex): Address => `0x${word.slice(-40)}`
const hashOf = (number: number) => pad(numberToHex(number), { size: 32 })

/** A token and a settlement contract without rules. A transaction says for whom a transfer, or of which order a deposit is. */
const CONTRACTS = only<ModelContracts>({
  transact(_context, address, word) {
    const args = { orderId: word, user: TOKEN, solver: SOLVER }
    const terms = [TOKEN, '0x5', TOKEN, '0x6', '0x7'].map((value) => pad(value as Hex).slice(2))
    const log =
      address === TOKEN
        ? { topics: [TRANSFER, pad(SOLVER), word], data: pad('0x1') }
        : {
            topics: encodeEventTopics({ abi: [DEPOSITED], args }) as Hex[],
            data: `0x${terms.join('')}` as const,
          }
    return { logs: [{ address, ...log }], steps: [] }
  },
})

/** A log as usual nodes give it. */
export interface FoundLog {
  readonly address: Address
  readonly topics: readonly Hex[]
}

/** The blocks of a filter, both included. Only one of transfers has receivers. */
interface LogRequest {
  readonly from: number
  readonly to: number
  readonly receivers: readonly Address[] | undefined
}

interface PolledChain {
  /** Where the solver has stopped. */
  readonly position?: number
  /** The number of the block at its start. */
  readonly first?: number
  /** The receivers of the transfers, and the orders of the deposits, that the next block has. */
  readonly transfersTo?: readonly Address[]
  readonly deposits?: readonly number[]
}

/**
 * Polls a model of a chain, whose blocks a test mines.
 * @param answer of the node to a request of logs @param answer.found those that the chain has
 */
export function startPolling(
  addresses: readonly Address[],
  answer: (request: LogRequest, found: () => FoundLog[]) => unknown = (_request, found) => found(),
  { position, first = 100, transfersTo = [], deposits: orders = [] }: PolledChain = {},
) {
  const clock = createManualClock(0)
  const closing = new AbortController()
  const requests: LogRequest[] = []
  const blocks: number[] = []
  const transfers: Address[] = []
  const deposits: unknown[] = []
  const errors: string[] = []
  const positions = new Map<string, string>()
  if (position !== undefined) positions.set('chain 1', String(position))
  let answers = 0
  /** What the node names as its newest block. */
  let newest = 'latest'

  const model = createModelChain(CONTRACTS, SOLVER, 0)
  const mine = () => model.mine(model.head().number + 1)
  while (model.head().number < first) mine()
  for (const to of transfersTo) model.act(SOLVER, TOKEN, pad(to))
  for (const order of orders) model.act(SOLVER, SETTLEMENT, hashOf(order))
  const past = model.blocks[first - 100] as ModelBlock
  const toHead = ({ number, hash, timestamp }: ModelBlock) => ({ number, hash, time: timestamp })
  const time = createChainTime(clock, toHead(past), toHead(model.head()), CONFIRMATIONS)

  const node = createModelNode(model, 1)
  node.intercept(({ method, params: [param] = [] }, ask) => {
    if (method !== 'eth_getLogs') return ask(param === 'latest' ? [newest] : undefined)
    const { fromBlock, toBlock, topics } = param as { fromBlock: Hex; toBlock: Hex; topics: Hex[][] }
    const receivers = [topics[0]].flat().includes(TRANSFER) ? topics[2]?.map(toAddress) : undefined
    const request = { from: Number(fromBlock), to: Number(toBlock), receivers }
    requests.push(request)
    return answer(request, () => ask() as FoundLog[])
  })
  const client = {
    request: node.request,
    /** The balance of an address that has got something. */
    async readContract({ args = [] }: { args?: readonly unknown[] }) {
      transfers.push(args[0] as Address)
      return 0n
    },
  }
  const chain = {
    chainId: 1,
    client,
    settlement: SETTLEMENT,
    tokens: new Map([[TOKEN, 0n]]),
    pollIntervalMs: POLL_MS,
  }
  const parts = {
    chain,
    clock,
    solver: SOLVER,
    state: {
      position: (name: string) => positions.get(name),
      setPosition: (name: string, value: string) => void positions.set(name, value),
    },
    time: { ...time, answered: () => void answers++ },
    onError: (error: unknown) => errors.push((error as Error).message),
    signal: closing.signal,
    ledger: {
      addresses: () => new Map(addresses.map((address) => [address, { quote: { inputAmount: 1n } }])),
      quotes: () => [{ quote: { inputToken: TOKEN } }],
    },
  }
  const filling: Pick<Filling, 'deposited' | 'settled'> = {
    deposited: (orderId, fillDeadline, { quotedInput } = {}) =>
      deposits.push([Number(orderId), fillDeadline, quotedInput ?? 0n]),
    settled: (orderId) => deposits.push([Number(orderId), 'settled']),
  }
  const ended = pollDeposits(
    only<ChainParts>(parts),
    filling as Filling,
    async ({ number }) => void blocks.push(number),
  )
  onTestFinished(async () => {
    closing.abort()
    await clock.advance(60_000)
    await ended
    expect(clock.waiting).toBe(0)
  })
  return {
    requests,
    blocks,
    transfers,
    deposits,
    positions,
    errors,
    answers: () => answers,
    clock,
    /** The node names an old block as its newest one. @returns ends that */
    goBack(block: number) {
      newest = numberToHex(block)
      return () => {
        newest = 'latest'
      }
    },
    async nextBlock(ms = POLL_MS) {
      mine()
      await clock.advance(ms)
    },
  }
}
