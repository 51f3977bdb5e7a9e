import { type Address, encodeEventTopics, erc20Abi, type Hex, numberToHex, pad, parseAbiItem } from 'viem'
import { expect, onTestFinished } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { only } from '../../../../test/support/only.js'
import { toRpcError } from '../../../chain/src/json-rpc.js'
import type { ChainParts } from '../../src/chain/chain-parts.js'
import { createChainTime } from '../../src/chain/chain-time.js'
import { pollDeposits } from '../../src/chain/deposit-poller.js'
import type { Filling } from '../../src/orders/filling.js'

const DEPOSITED = parseAbiItem(
  'event Deposited(bytes32 indexed orderId, address indexed user, address indexed solver, address inputToken, uint256 inputAmount, address outputToken, uint256 outputAmount, uint32 fillDeadline)',
)
export const SOLVER = `0x${'0a'.repeat(20)}` as const
const SETTLEMENT = `0x${'5e'.repeat(20)}` as const
export const TOKEN = `0x${'0b'.repeat(20)}` as const
export const POLL_MS = 1_000
export const CONFIRMATIONS = 20
export const NEVER = new Promise<never>(() => {})

export const answered = (code: number, message: string) => toRpcError({ code, message }, String)
export const addressOf = (index: number) => pad(numberToHex(index), { size: 20 })
const hashOf = (number: number) => pad(numberToHex(number), { size: 32 })

/** A filter. Only one of transfers has receivers. */
interface LogRequest {
  readonly address: Address | readonly Address[]
  readonly fromBlock: bigint
  readonly toBlock: bigint
  readonly to: readonly Address[] | undefined
}

const [TRANSFER] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' })
const toAddress = (word: Hex): Address => `0x${word.slice(-40)}`

/** A log of a transfer, as usual nodes give it. */
export const transferTo = (to: Address, block = 101) => ({
  address: TOKEN,
  topics: [TRANSFER, pad(SOLVER), pad(to)],
  data: pad('0x1'),
  blockNumber: numberToHex(block),
  blockHash: hashOf(block),
  transactionHash: hashOf(1),
  transactionIndex: '0x0',
  logIndex: '0x0',
  removed: false,
})

/** A log of a deposit for the solver. @param number its order id */
export const depositOf = (number: number) => ({
  ...transferTo(SOLVER),
  address: SETTLEMENT,
  topics: [
    ...encodeEventTopics({
      abi: [DEPOSITED],
      args: { orderId: hashOf(number), user: TOKEN, solver: SOLVER },
    }),
  ],
  data: `0x${[TOKEN, '0x5', TOKEN, '0x6', '0x7'].map((value) => pad(value as Hex).slice(2)).join('')}`,
})

/** A chain with a block for each poll. @param answer of the node to a request of logs */
export function startPolling(
  addresses: readonly Address[],
  answer: (request: LogRequest) => Promise<unknown>,
  {
    secondsPerBlock = 1,
    position,
    first = 100,
  }: { secondsPerBlock?: number; position?: number; first?: number } = {},
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
  let head = first
  let answers = 0
  const blockAt = (number: number) => ({
    hash: hashOf(number),
    number,
    time: Math.floor(number * secondsPerBlock),
  })
  const past = blockAt(Math.max(0, first - (secondsPerBlock < 1 ? 400 : 100)))
  const time = createChainTime(clock, past, blockAt(first), CONFIRMATIONS)
  const client = {
    // biome-ignore lint/suspicious/noExplicitAny: parameters of JSON-RPC
    async request({ method, params: [param] }: { method: string; params: any[] }) {
      if (method !== 'eth_getLogs') {
        const { hash, number, time: timestamp } = blockAt(param === 'latest' ? head : Number(param))
        return { hash, parentHash: hash, number, timestamp }
      }
      const { address, fromBlock, toBlock, topics } = param
      const to = topics[0] === TRANSFER ? topics[2].map(toAddress) : undefined
      const asked = { address, fromBlock: BigInt(fromBlock), toBlock: BigInt(toBlock), to }
      requests.push(asked)
      return answer(asked)
    },
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
    newBlock: () => head++,
    /** The node names an old block as its newest one. @returns ends that */
    goBack(block: number) {
      const newest = head
      head = block
      return () => {
        head = newest
      }
    },
    async nextBlock(ms = POLL_MS) {
      head++
      await clock.advance(ms)
    },
  }
}
