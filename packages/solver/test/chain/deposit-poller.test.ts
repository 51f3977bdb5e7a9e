import { type Address, encodeEventTopics, erc20Abi, type Hex, numberToHex, pad, parseAbiItem } from 'viem'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { only } from '../../../../test/support/only.js'
import { RpcError, toRpcError } from '../../../chain/src/json-rpc.js'
import type { ChainParts } from '../../src/chain/chain-parts.js'
import { createChainTime } from '../../src/chain/chain-time.js'
import { pollDeposits } from '../../src/chain/deposit-poller.js'
import type { Filling } from '../../src/orders/filling.js'

const DEPOSITED = parseAbiItem(
  'event Deposited(bytes32 indexed orderId, address indexed user, address indexed solver, address inputToken, uint256 inputAmount, address outputToken, uint256 outputAmount, uint32 fillDeadline)',
)
const SOLVER = `0x${'0a'.repeat(20)}` as const
const SETTLEMENT = `0x${'5e'.repeat(20)}` as const
const TOKEN = `0x${'0b'.repeat(20)}` as const
const POLL_MS = 1_000
const CONFIRMATIONS = 20
const NEVER = new Promise<never>(() => {})

const answered = (code: number, message: string) => toRpcError({ code, message }, String)
const addressOf = (index: number) => pad(numberToHex(index), { size: 20 })
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
const transferTo = (to: Address, block = 101) => ({
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
const depositOf = (number: number) => ({
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
function startPolling(
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
    async readContract({ args: [owner] }: { args: [Address] }) {
      transfers.push(owner)
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

it('transfers are asked for by their receivers, however many quotes are open', async () => {
  const addresses = Array.from({ length: 201 }, (_, index) => addressOf(index + 1))
  const { requests, transfers, nextBlock } = startPolling(addresses, async ({ to = [] }) =>
    to.filter((one) => one === addresses[200]).map((one) => transferTo(one)),
  )
  await nextBlock()
  const groups = requests.flatMap(({ to }) => (to === undefined ? [] : [to]))
  expect(groups.slice(0, 3).map(({ length }) => length)).toEqual([100, 100, 1])
  expect(groups.slice(0, 3).flat()).toEqual(addresses)
  expect(transfers[0]).toBe(addresses[200])
})

it.each([
  ['refuses to show logs', async () => Promise.reject(new Error('more than 10000 results'))],
  ['never answers for logs', () => NEVER],
])('blocks pass while a node %s, and the chain counts as unseen', async (_title, answer) => {
  const { blocks, answers, nextBlock } = startPolling([], answer)
  for (let block = 0; block < 10; block++) await nextBlock(6 * POLL_MS)
  expect(blocks.length).toBeGreaterThanOrEqual(5)
  expect(blocks).toEqual([...new Set(blocks)])
  expect(answers()).toBe(0)
})

it('the blocks whose logs were refused are read later', async () => {
  let isRefusing = false
  const { requests, errors, answers, nextBlock } = startPolling([], async () => {
    if (isRefusing) throw new Error('more than 10000 results')
    return []
  })
  await nextBlock()
  const before = answers()
  isRefusing = true
  for (let block = 0; block < 40; block++) await nextBlock()
  expect([answers(), new Set(errors)]).toEqual([before, new Set(['more than 10000 results'])])
  isRefusing = false
  for (let block = 0; block < 6; block++) await nextBlock()
  expect(answers()).toBeGreaterThan(before)
  expect(requests.some(({ fromBlock }) => fromBlock <= 101n)).toBe(true)
})

describe.each([10, 500])('a node that allows %i blocks', (allowed) => {
  it.each<[string, () => unknown]>([
    ['an error', () => answered(-32602, `eth_getLogs is limited to ${allowed} blocks`)],
    ['a bare code', () => answered(-32005, 'limit exceeded')],
    ['status 400', () => new RpcError('refused', 'status 400', { status: 400 })],
    [
      "an error of the market maker's own transport",
      () => Object.assign(new Error('block range too large'), { code: -32602 }),
    ],
  ])('and says so by %s is read to its head, also after a stop of 700 blocks', async (_how, refusal) => {
    const read = new Set<number>()
    const { requests, answers, nextBlock } = startPolling(
      [],
      async ({ fromBlock, toBlock }) => {
        if (toBlock - fromBlock >= BigInt(allowed)) throw refusal()
        for (let block = fromBlock; block <= toBlock; block++) read.add(Number(block))
        return []
      },
      { position: 1_000, first: 1_700 },
    )
    for (let block = 0; block < 4; block++) await nextBlock()
    expect(answers()).toBeGreaterThan(1)
    const missing = Array.from({ length: 761 }, (_, index) => 940 + index).filter((block) => !read.has(block))
    expect(missing).toEqual([])
    const refused = requests.filter(({ fromBlock, toBlock }) => toBlock - fromBlock >= BigInt(allowed))
    expect(refused.length).toBeLessThan(requests.length / 4)
  })
})

it.each([0.25, 1, 12])(
  'blocks of the last minute are read again when there is one each %d s',
  async (secondsPerBlock) => {
    const { requests, nextBlock } = startPolling([], async () => [], { secondsPerBlock, first: 10_000 })
    for (let block = 0; block < 5; block++) await nextBlock()
    const [, ...later] = requests
    for (const { fromBlock, toBlock } of later) {
      const seconds = Number(toBlock - fromBlock) * secondsPerBlock
      expect(seconds).toBeGreaterThanOrEqual(60)
      expect(toBlock - fromBlock).toBeGreaterThanOrEqual(CONFIRMATIONS)
      expect(seconds).toBeLessThanOrEqual(Math.max(60 * 4, 106 * secondsPerBlock))
    }
  },
)

it('a deposit that the node leaves out once is found', async () => {
  let isLate = true
  const receiver = addressOf(1)
  const { transfers, nextBlock } = startPolling([receiver], async ({ to, fromBlock, toBlock }) =>
    !isLate && to !== undefined && fromBlock <= 101n && toBlock >= 101n ? [transferTo(receiver)] : [],
  )
  await nextBlock()
  expect(transfers).toEqual([])
  isLate = false
  await nextBlock()
  expect(transfers).toEqual([receiver])
})

const capitals = (text: Hex): Hex => `0x${text.slice(2).toUpperCase()}`
type Log = ReturnType<typeof transferTo>

it.each<[string, (logs: readonly Log[]) => unknown]>([
  ['of the usual shape', (logs) => logs],
  ['that are `null` when there are none', (logs) => (logs.length === 0 ? null : logs)],
  [
    'in capitals',
    (logs) =>
      logs.map((log) => ({
        ...log,
        address: capitals(log.address),
        topics: log.topics.map((topic) => capitals(topic as Hex)),
      })),
  ],
  [
    'with plain and padded numbers',
    (logs) => logs.map((log) => ({ ...log, blockNumber: 101, logIndex: '0x00', transactionIndex: '0' })),
  ],
  [
    'whose transfers have no data',
    (logs) => logs.map((log) => (log.address === TOKEN ? { ...log, data: '' } : log)),
  ],
])('deposits of both kinds are found in logs %s', async (_what, shape) => {
  const receiver = addressOf(0xab)
  const { deposits, transfers, errors, answers, nextBlock } = startPolling(
    [receiver],
    async ({ to, fromBlock, toBlock }) => {
      if (fromBlock > 101n || toBlock < 101n) return shape([])
      return shape([to === undefined ? (depositOf(9) as Log) : transferTo(receiver)])
    },
  )
  await nextBlock()
  await nextBlock()
  expect([deposits[0], transfers[0], errors]).toEqual([[9, 7, 5n], receiver, []])
  expect(answers()).toBeGreaterThan(1)
})

it('what another contract or another solver has is no deposit, whatever the filter', async () => {
  const { topics, ...log } = depositOf(9)
  const { deposits, errors, nextBlock } = startPolling([], async () => [
    { ...log, topics: topics.with(3, pad(TOKEN)) },
  ])
  await nextBlock()
  expect([deposits, errors]).toEqual([[], []])
})

it.each(['transfers', 'deposits'])(
  'a node that refuses the filter of %s shows the rest, and the unread range is read later',
  async (refused) => {
    let isRefusing = true
    const receiver = addressOf(1)
    const { deposits, transfers, positions, answers, requests, nextBlock } = startPolling(
      [receiver],
      async ({ to, fromBlock, toBlock }) => {
        if (isRefusing && (to === undefined) === (refused === 'deposits'))
          throw answered(-32602, 'invalid params: no lists')
        const found = to === undefined ? depositOf(9) : transferTo(receiver, 101)
        return fromBlock <= 101n && toBlock >= 101n ? [found] : []
      },
    )
    for (let block = 0; block < 90; block++) await nextBlock()
    expect([deposits.length > 0, transfers.length > 0]).toEqual([
      refused === 'transfers',
      refused === 'deposits',
    ])
    const [name, other] = refused === 'deposits' ? ['chain 1', 'transfers 1'] : ['transfers 1', 'chain 1']
    expect([positions.get(name), Number(positions.get(other)) > 150, answers()]).toEqual(['100', true, 0])
    isRefusing = false
    requests.length = 0
    for (let block = 0; block < 9; block++) await nextBlock()
    expect([deposits.length > 0, transfers.length > 0, answers() > 0]).toEqual([true, true, true])
  },
)

it('the receivers of one filter are found while the node refuses another one', async () => {
  const addresses = Array.from({ length: 201 }, (_, index) => addressOf(index + 1))
  const { transfers, nextBlock } = startPolling(addresses, async ({ to = [] }) => {
    if (to.length === 100) throw answered(-32000, 'too many addresses')
    return to.map((one) => transferTo(one))
  })
  await nextBlock()
  expect(transfers).toContain(addresses[200])
})

it('a node that lags far behind for one look makes it read no old blocks', async () => {
  const { positions, nextBlock, goBack } = startPolling([], async () => [], { first: 1_000_000 })
  await nextBlock()
  const back = goBack(5)
  await nextBlock()
  back()
  await nextBlock()
  expect(Number(positions.get('chain 1'))).toBeGreaterThan(1_000_000)
})
