import { type Address, type Hex, numberToHex, pad } from 'viem'
import { expect, it, onTestFinished } from 'vitest'
import { createManualClock } from '../../../test/support/manual-clock.js'
import { pollDeposits } from '../src/chain/deposit-poller.js'
import type { ChainParts } from '../src/chain-parts.js'

const SOLVER = `0x${'0a'.repeat(20)}` as const
const TOKEN = `0x${'0b'.repeat(20)}` as const
const POLL_MS = 1_000
const NEVER = new Promise<never>(() => {})

const addressOf = (index: number) => pad(numberToHex(index), { size: 20 })
const hashOf = (number: number) => pad(numberToHex(number), { size: 32 })

interface LogRequest {
  readonly address: Address | readonly Address[]
  readonly fromBlock: bigint
  readonly args: { readonly to?: readonly Address[] }
}

/** A chain with a block for each poll. @param answer of the node to a request of logs */
function startPolling(addresses: readonly Address[], answer: (request: LogRequest) => Promise<unknown[]>) {
  const clock = createManualClock(0)
  const closing = new AbortController()
  const requests: LogRequest[] = []
  const blocks: number[] = []
  const transfers: Address[] = []
  const errors: string[] = []
  const positions = new Map<string, string>()
  let head = 100
  let answers = 0
  const client = {
    getBlock: async ({ blockHash = hashOf(head) }: { blockHash?: Hex }) => ({
      hash: blockHash,
      number: BigInt(blockHash),
      timestamp: BigInt(blockHash),
    }),
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
  const ended = pollDeposits({
    chain: chain as unknown as ChainParts['chain'],
    clock,
    solver: SOLVER,
    state: {
      position: (name: string) => positions.get(name),
      setPosition: (name: string, value: string) => void positions.set(name, value),
    } as ChainParts['state'],
    time: { answered: () => answers++ } as unknown as ChainParts['time'],
    onError: (error) => errors.push((error as Error).message),
    signal: closing.signal,
    addresses: () => addresses,
    onDeposited: () => {},
    onTransfer: async (to) => void transfers.push(to),
    onBlock: async ({ number }) => void blocks.push(number),
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
  // The overlap of 12 blocks, from the last one that was read.
  expect(requests.at(-1)?.fromBlock).toBeGreaterThan(130n)
  expect(requests.some(({ fromBlock }) => fromBlock <= 101n)).toBe(true)
})
