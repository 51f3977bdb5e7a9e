import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { bloomOf, lie } from '../../support/faults/lying-node.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { useWatchedChain } from '../../support/faults/watched-chain.js'
import { type EventMessage, expectedMessages, standing } from '../../support/streams/event-messages.js'

const on = useWatchedChain({ seed: 33 })

const OTHER_ADDRESS = `0x${'77'.repeat(20)}`

/** Mines blocks with and without events, and checks that each event comes once, in order. */
async function expectEvents(rounds = 3, toCompare = (message: EventMessage): object => message) {
  for (let round = 0; round < rounds; round++) {
    await on.traffic.mine([0, 1, 2, 3].map(() => on.traffic.actions.deposit(on.traffic.order())))
    await on.traffic.mine()
    await on.traffic.run({ events: 4, blocks: 2 })
    const expected = await expectedMessages(on.chain, on.from)
    await on.events.untilCount(expected.length)
    expect(standing(on.events.events()).map(toCompare)).toEqual(expected.map(toCompare))
  }
  await on.untilRead()
}

describe('the logs of a block that a node omits', () => {
  it('are requested again when they are missing at first', async () => {
    lie(on.rpc, { logs: (logs, times) => (times === 0 ? [] : logs), receipts: false })
    await on.start()
    await expectEvents()
  })

  it('are requested at another endpoint when they are always missing', async () => {
    const other = await startRpcProxy(on.chain.devnet.rpcUrl)
    onTestFinished(other.close)
    lie(on.rpc, { logs: () => [], receipts: false })
    lie(other, { receipts: false })
    await on.start({ [`RPC_URL_${on.chain.chainId}`]: [on.rpc.url, other.url].join() })
    await expectEvents()
  })

  it('are read from the receipts when they are always missing', async () => {
    lie(on.rpc, { logs: () => [] })
    await on.start()
    await expectEvents()
  })

  it('are read from the receipts when a part is missing', async () => {
    lie(on.rpc, { logs: (logs) => logs.slice(0, Math.ceil(logs.length / 2)) })
    await on.start()
    await expectEvents()
  })

  it('are requested again when all of one kind are missing', async () => {
    lie(on.rpc, {
      logs: (logs, times) => (times === 0 ? logs.filter((log) => log.topics.length < 4) : logs),
      receipts: false,
    })
    await on.start()
    await expectEvents()
  })

  it('are requested again when the receipts are missing too', async () => {
    let answers = 0
    lie(on.rpc, {
      logs: (logs, times) => (times < 2 ? [] : logs),
      receipts: (receipts) => (answers++ % 3 === 0 ? receipts : []),
    })
    await on.start()
    await expectEvents()
  })
})

describe('a node', () => {
  it('with bloom filters full of false positives is read, and never counts as down', async () => {
    lie(on.rpc, { header: (header) => ({ ...header, logsBloom: bloomOf('ff') }), receipts: false })
    await on.start()
    await expectEvents(1)
    expect(await on.failedLooks()).toBe(0)
  })

  it.each([
    ['all zero', { logsBloom: bloomOf('00') }],
    ['missing', { logsBloom: undefined }],
    ['null', { logsBloom: null }],
  ])('with bloom filters that are %s is read', async (_what, change) => {
    lie(on.rpc, { header: (header) => ({ ...header, ...change }) })
    await on.start()
    await expectEvents()
    expect(await on.failedLooks()).toBe(0)
  })

  it('without receipts is not asked for receipts again and again', async () => {
    lie(on.rpc, { receipts: false })
    await on.start()
    await expectEvents(1)
    const before = on.rpc.count('eth_getBlockReceipts')
    await expectEvents(2)
    expect(on.rpc.count('eth_getBlockReceipts')).toBe(before)
    expect(await on.failedLooks()).toBe(0)
  })

  it('that fails at receipts is read without them', async () => {
    on.rpc.intercept(async ({ method }, pass) =>
      method === 'eth_getBlockReceipts' ? { error: { code: -32000, message: 'no such plan' } } : pass(),
    )
    await on.start()
    await expectEvents()
  })

  it('that proves its blocks is asked for receipts of blocks with events only', async () => {
    await on.start()
    await expectEvents()
    const asked = on.rpc
      .requests()
      .flat()
      .filter(({ method }) => method === 'eth_getBlockReceipts')
    const blocks = new Set((await expectedMessages(on.chain, on.from)).map(({ blockNumber }) => blockNumber))
    expect(asked.length).toBe(blocks.size)
  })
})

describe('a log', () => {
  it.each([
    ['without a log index', { logIndex: undefined }],
    ['with words for a log index', { logIndex: 'first' }],
    ['without a block number', { blockNumber: undefined }],
    ['with no block number yet', { blockNumber: null }],
    ['with the number of another block', { blockNumber: '0x1' }],
    ['with a short order id', { topics: ['0x12'] }],
    ['with half a byte of data', { data: '0x123' }],
  ])('%s is rejected, and the next endpoint is asked', async (_what, change) => {
    const other = await startRpcProxy(on.chain.devnet.rpcUrl)
    onTestFinished(other.close)
    const changed = (log: object) => ({ ...log, ...change })
    lie(on.rpc, {
      logs: (logs) => logs.map(changed),
      receipts: (receipts) => receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.map(changed) })),
    })
    await on.start({ [`RPC_URL_${on.chain.chainId}`]: [on.rpc.url, other.url].join() })
    await expectEvents(1)
    expect(on.lines.filter(({ msg }) => msg === 'events cannot be written')).toEqual([])
  })

  it('with another index at the second reading gives its event once', async () => {
    const shifted = (log: { logIndex: string }) => ({
      ...log,
      logIndex: `0x${(Number(log.logIndex) + 100).toString(16)}`,
    })
    lie(on.rpc, { logs: (logs, times) => (times === 0 ? logs.map(shifted) : logs), receipts: false })
    await on.start({ [`RECHECK_BLOCKS_${on.chain.chainId}`]: '3' })
    // An event has the index that the node gave first.
    await expectEvents(1, ({ logIndex: _, ...message }) => message)
    for (let block = 0; block < 6; block++) {
      await on.traffic.mine()
      await on.untilRead()
    }
    expect(on.events.events()).toHaveLength((await expectedMessages(on.chain, on.from)).length)
  })
})

describe('an answer with logs', () => {
  it.each([
    ['that are marked as removed', { removed: true }],
    ['of another contract', { address: OTHER_ADDRESS }],
  ])('%s is rejected', async (_what, change) => {
    lie(on.rpc, {
      logs: (logs, times) =>
        times === 0 ? logs.flatMap((log) => [log, { ...log, logIndex: '0x7000', ...change }]) : logs,
      receipts: false,
    })
    await on.start()
    await expectEvents()
    expect(await on.failedLooks()).toBeGreaterThan(0)
  })

  it('that come twice gives each of them once', async () => {
    lie(on.rpc, { logs: (logs) => [...logs, ...logs], receipts: false })
    await on.start()
    await expectEvents()
    expect(await on.failedLooks()).toBe(0)
  })
})

it('a block that is requested by hash and returned as another one fails that poll', async () => {
  await on.start()
  await on.traffic.run({ events: 4, blocks: 4 })
  await on.events.untilCount(4)
  await on.untilRead()
  let parent: unknown
  lie(on.rpc, {
    headerByHash(header) {
      parent ??= header
      return parent
    },
  })
  // An empty block could be identical to the one before it.
  const deposit = () => [on.traffic.actions.deposit(on.traffic.order())]
  await on.traffic.reorganise(3, [deposit(), deposit(), deposit()])
  await eventually(on.failedLooks, (count) => count > 1)
  on.rpc.intercept()
  const expected = await expectedMessages(on.chain, on.from)
  await vi.waitFor(() => expect(standing(on.events.events())).toEqual(expected), { timeout: 20_000 })
})
