import { describe, expect, it, vi } from 'vitest'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { bloomOf, type Lies, lie } from '../../support/faults/lying-node.js'
import { useWatchedChain } from '../../support/faults/watched-chain.js'
import { type EventMessage, expectedMessages, standing } from '../../support/streams/event-messages.js'
import { watchEvents } from '../../support/streams/watch-events.js'

const DEPTH = 3
const WARNING = 'the node had left out events of a block: they are published now'

const on = useWatchedChain({ seed: 34, recheckBlocks: DEPTH })

const mineDeposits = (count: number) =>
  on.traffic.mine(Array.from({ length: count }, () => on.traffic.actions.deposit(on.traffic.order())))
async function mineEmpty(blocks: number) {
  for (let block = 0; block < blocks; block++) {
    await on.traffic.mine()
    await on.untilRead()
  }
}
const byOrder = (a: EventMessage, b: EventMessage) => a.orderId.localeCompare(b.orderId)
const warnings = () => on.lines.filter(({ msg }) => msg === WARNING)
/** The blocks whose logs were requested more than once. */
function recheck(): unknown[] {
  const calls = on.rpc.requests().flat()
  const hashes = calls.flatMap(({ method, params = [] }) =>
    method === 'eth_getLogs' ? [(params[0] as { blockHash?: string }).blockHash] : [],
  )
  return hashes.filter((hash, index) => hash !== undefined && hashes.indexOf(hash) !== index)
}
/** Without bloom filters and receipts, nothing can be proved of a block. */
const NOTHING_PROVEN: Lies = {
  header: (header) => ({ ...header, logsBloom: bloomOf('00') }),
  receipts: false,
}

describe('events that a node omits at first, without a proof that they are missing,', () => {
  it.each([
    ['all of a block', { ...NOTHING_PROVEN, logs: (logs, times) => (times === 0 ? [] : logs) }],
    ['half of a block', { ...NOTHING_PROVEN, logs: (logs, times) => (times === 0 ? logs.slice(1) : logs) }],
    [
      'half of a block with a bloom filter',
      { receipts: false, logs: (logs, times) => (times === 0 ? logs.slice(1) : logs) },
    ],
  ] satisfies [string, Lies][])('are published when the block is deeper: %s', async (_what, lies) => {
    await on.start()
    lie(on.rpc, lies)
    const { number } = await mineDeposits(2)
    await on.untilRead()
    const before = on.events.events().length
    await mineEmpty(DEPTH - 1)
    expect(on.events.events()).toHaveLength(before)
    await mineEmpty(1)
    await on.events.untilCount(2)
    await mineEmpty(DEPTH)
    const received = standing(on.events.events()).sort(byOrder)
    expect(received).toEqual((await expectedMessages(on.chain, on.from)).sort(byOrder))
    expect(recheck()).not.toEqual([])
    expect(await on.service.metric('aggregator_late_events_total', {})).toBe(2 - before)
    expect(warnings()).toEqual([expect.objectContaining({ level: 40, block: number, events: 2 - before })])
  })

  it.each([['missing'], ['all zero']])(
    'are published when the bloom filter of their block is %s',
    async (what) => {
      await on.start()
      await mineDeposits(1)
      await on.untilRead()
      const logsBloom = what === 'missing' ? null : bloomOf('00')
      lie(on.rpc, {
        header: (header) => ({ ...header, logsBloom }),
        logs: (logs, times) => (times === 0 ? [] : logs),
      })
      await mineDeposits(2)
      await on.untilRead()
      await mineEmpty(DEPTH)
      await on.events.untilCount(3)
      expect(standing(on.events.events())).toEqual(await expectedMessages(on.chain, on.from))
    },
  )

  it('come after those of later blocks, and a reorganisation removes them too', async () => {
    await on.start()
    lie(on.rpc, { ...NOTHING_PROVEN, logs: (logs, times) => (times === 0 ? logs.slice(1) : logs) })
    const { number } = await mineDeposits(1)
    await on.untilRead()
    on.rpc.intercept()
    for (let block = 0; block < DEPTH; block++) {
      await mineDeposits(1)
      await on.untilRead()
    }
    await on.events.untilCount(DEPTH + 1)
    const blocks = standing(on.events.events()).map((event) => event.blockNumber)
    expect(blocks).toEqual([number + 1, number + 2, number + 3, number])
    await on.traffic.reorganise(DEPTH + 1, [[on.traffic.actions.deposit(on.traffic.order())]])
    await on.events.untilCount(2 * (DEPTH + 1) + 1)
    expect(standing(on.events.events())).toEqual(await expectedMessages(on.chain, on.from))
  })

  it('are published once, also after a restart', async () => {
    const kept = { DB_PATH: temporaryFile() }
    await on.start(kept)
    lie(on.rpc, { ...NOTHING_PROVEN, logs: (logs, times) => (times === 0 ? logs.slice(1) : logs) })
    const { number } = await mineDeposits(3)
    await on.untilRead()
    const cursor = on.events.cursor()
    expect(on.events.events()).toHaveLength(2)
    on.events.close()
    await on.service.close()
    await on.start(kept)
    on.events.close()
    on.events = await watchEvents(on.service, `?after=${encodeURIComponent(cursor)}`)
    await mineEmpty(DEPTH)
    await on.events.untilCount(1)
    await mineEmpty(DEPTH)
    expect(on.events.events()).toMatchObject([{ blockNumber: number }])
  })

  it('are published after a restart when the node has failed at their block until it was deeper', async () => {
    const kept = { DB_PATH: temporaryFile() }
    await on.start(kept)
    let failing: number | undefined
    lie(on.rpc, {
      ...NOTHING_PROVEN,
      header: (header) =>
        Number(header.number) === failing ? null : { ...header, logsBloom: bloomOf('00') },
      logs: (logs, times) => (times === 0 ? logs.slice(1) : logs),
    })
    const { number } = await mineDeposits(2)
    await on.untilRead()
    failing = number
    await mineEmpty(2 * DEPTH)
    await restartAndExpectAll(kept)
  })

  it('are published after restarts while ranges are read', async () => {
    const kept = { DB_PATH: temporaryFile(), MAX_REORG_DEPTH: '4' }
    await on.start(kept)
    lie(on.rpc, { ...NOTHING_PROVEN, logs: (logs, times) => (times === 0 ? logs.slice(1) : logs) })
    const { number } = await mineDeposits(2)
    await on.untilRead()
    on.events.close()
    await on.service.close()
    for (let block = 0; block < 40; block++) await on.traffic.mine()
    on.rpc.intercept(async ({ method, params = [] }, pass) => {
      const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      if (method !== 'eth_getLogs' || fromBlock === undefined) return pass()
      const isLong = Number(toBlock) - Number(fromBlock) > 8
      if (isLong) return { error: { code: -32005, message: 'query returned too many results' } }
      return Number(fromBlock) > number + 12 ? { error: { code: -32603, message: 'no answer' } } : pass()
    })
    await on.start(kept)
    await eventually(on.eventBlock, (block = 0) => block > number)
    await restartAndExpectAll(kept)
  })

  /** Restarts with a correct node, and expects exactly the events of the chain. */
  async function restartAndExpectAll(kept: Record<string, string>): Promise<void> {
    on.events.close()
    await on.service.close()
    on.rpc.intercept()
    await on.start(kept)
    await mineEmpty(1)
    const whole = await watchEvents(on.service, `?after=${on.events.cursor().split('.')[0]}.0`)
    const expected = (await expectedMessages(on.chain, on.from)).sort(byOrder)
    await vi.waitFor(() => expect(standing(whole.events()).sort(byOrder)).toEqual(expected), {
      timeout: 20_000,
    })
    whole.close()
  }
})

it('blocks that are proved complete are not read again', async () => {
  await on.start()
  // So that the service has seen a bloom filter.
  await mineDeposits(1)
  await on.untilRead()
  on.rpc.forgetCalls()
  await mineEmpty(2 * DEPTH)
  expect(recheck()).toEqual([])
})

it('RECHECK_BLOCKS=0 turns the second reading off', async () => {
  lie(on.rpc, NOTHING_PROVEN)
  await on.start({ [`RECHECK_BLOCKS_${on.chain.chainId}`]: '0' })
  await mineDeposits(1)
  await mineEmpty(2 * DEPTH)
  expect(recheck()).toEqual([])
})
