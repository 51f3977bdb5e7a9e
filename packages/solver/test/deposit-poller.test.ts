import { type Address, type Hex, numberToHex, pad } from 'viem'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createManualClock } from '../../../test/support/manual-clock.js'
import { RpcError, toRpcError } from '../../chain/src/rpc-error.js'
import { createChainTime } from '../src/chain/chain-time.js'
import { pollDeposits } from '../src/chain/deposit-poller.js'
import type { ChainParts } from '../src/chain-parts.js'

const SOLVER = `0x${'0a'.repeat(20)}` as const
const TOKEN = `0x${'0b'.repeat(20)}` as const
const POLL_MS = 1_000
const CONFIRMATIONS = 20
const NEVER = new Promise<never>(() => {})

const answered = (code: number, message: string) => toRpcError({ code, message }, String)
const addressOf = (index: number) => pad(numberToHex(index), { size: 20 })
const hashOf = (number: number) => pad(numberToHex(number), { size: 32 })

interface LogRequest {
  readonly address: Address | readonly Address[]
  readonly fromBlock: bigint
  readonly toBlock: bigint
  readonly args: { readonly to?: readonly Address[] }
}

/** A chain with a block for each poll. @param answer of the node to a request of logs */
function startPolling(
  addresses: readonly Address[],
  answer: (request: LogRequest) => Promise<unknown[]>,
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
    async getBlock({ blockHash, blockNumber }: { blockHash?: Hex; blockNumber?: bigint }) {
      const number = Number(blockNumber ?? blockHash ?? head)
      const { hash, time: timestamp } = blockAt(number)
      return { hash, number: BigInt(number), timestamp: BigInt(timestamp) }
    },
    getLogs(request: LogRequest) {
      requests.push(request)
      return answer(request)
    },
  }
  const chain = {
    chainId: 1,
    client,
    settlement: SOLVER,
    tokens: new Map([[TOKEN, 0n]]),
    pollIntervalMs: POLL_MS,
  }
  const { ended, wake } = pollDeposits({
    chain: chain as unknown as ChainParts['chain'],
    clock,
    solver: SOLVER,
    state: {
      position: (name: string) => positions.get(name),
      setPosition: (name: string, value: string) => void positions.set(name, value),
    } as ChainParts['state'],
    time: { ...time, answered: () => void answers++ },
    onError: (error) => errors.push((error as Error).message),
    signal: closing.signal,
    addresses: () => addresses,
    onDeposited: () => {},
    onTransfer: async (to) => void transfers.push(to),
    async onBlock(seen) {
      time.see(seen)
      blocks.push(seen.number)
    },
  })
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
    errors,
    answers: () => answers,
    clock,
    wake,
    newBlock: () => head++,
    async nextBlock(ms = POLL_MS) {
      head++
      await clock.advance(ms)
    },
  }
}

it('transfers are asked for by their receivers, however many quotes are open', async () => {
  const addresses = Array.from({ length: 201 }, (_, index) => addressOf(index + 1))
  const { requests, transfers, nextBlock } = startPolling(addresses, async ({ args: { to = [] } }) =>
    to.filter((one) => one === addresses[200]).map((one) => ({ args: { to: one } })),
  )
  await nextBlock()
  const groups = requests.flatMap(({ address, args }) => (Array.isArray(address) ? [args.to ?? []] : []))
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
      expect(seconds).toBeLessThanOrEqual(Math.max(60 * 4, 105 * secondsPerBlock))
    }
  },
)

it('a hint makes it look at once, but not again before its time', async () => {
  const { blocks, clock, wake, newBlock } = startPolling([], async () => [])
  await clock.advance(0)
  expect(blocks).toEqual([100])
  newBlock()
  wake()
  await clock.advance(0)
  expect(blocks).toEqual([100, 101])
  newBlock()
  for (let hint = 0; hint < 5; hint++) {
    wake()
    await clock.advance(0)
  }
  expect(blocks).toEqual([100, 101])
  await clock.advance(POLL_MS)
  expect(blocks).toEqual([100, 101, 102])
})

it('a deposit that the node leaves out once is found', async () => {
  let isLate = true
  const receiver = addressOf(1)
  const { transfers, nextBlock } = startPolling([receiver], async ({ args, fromBlock, toBlock }) =>
    !isLate && args.to !== undefined && fromBlock <= 101n && toBlock >= 101n
      ? [{ args: { to: receiver } }]
      : [],
  )
  await nextBlock()
  expect(transfers).toEqual([])
  isLate = false
  await nextBlock()
  expect(transfers).toEqual([receiver])
})
