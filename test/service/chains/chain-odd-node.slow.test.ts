import { expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { eventually } from '../../support/eventually.js'
import { bloomOf, type Lies, lie } from '../../support/faults/lying-node.js'
import { useWatchedChain } from '../../support/faults/watched-chain.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'

const DEPTH = 3
const on = useWatchedChain({ seed: 36, recheckBlocks: DEPTH })

const EMPTY_TRIE_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const plain = (item: Record<string, unknown>, members: readonly string[]) => ({
  ...item,
  ...Object.fromEntries(members.map((member) => [member, Number(item[member])])),
})
const placeholders = (header: { transactions: unknown[] }) =>
  header.transactions.length === 0
    ? header
    : { ...header, logsBloom: bloomOf('00'), receiptsRoot: EMPTY_TRIE_ROOT }

const mineDeposits = (count: number) =>
  on.traffic.mine(Array.from({ length: count }, () => on.traffic.actions.deposit(on.traffic.order())))

it.each<[string, Lies]>([
  [
    'fills in blooms and roots, and has the logs late',
    { header: placeholders, logs: (logs, times) => (times === 0 ? [] : logs), receipts: false },
  ],
  [
    'has null for no logs, and receipts without logs',
    {
      logs: (logs) => (logs.length === 0 ? null : logs),
      receipts: (all) => all.map((receipt) => ({ ...receipt, logs: null })),
    },
  ],
  [
    'counts the logs of each transaction',
    { logs: (logs) => logs.map((log) => ({ ...log, logIndex: '0x0' })), receipts: false },
  ],
  [
    'has plain numbers and no empty data',
    {
      header: (header) => plain(header, ['number', 'timestamp']),
      logs: (logs) =>
        logs.map((log) => ({
          ...plain(log, ['blockNumber', 'logIndex', 'transactionIndex']),
          data: log.data === '0x' ? undefined : log.data,
        })),
      receipts: false,
    },
  ],
])('each event of a node that %s is published once', async (_what, lies) => {
  lie(on.rpc, lies)
  await on.start()
  await mineDeposits(3)
  for (let block = 0; block <= 2 * DEPTH; block++) {
    await on.traffic.mine()
    await on.untilRead()
  }
  await on.events.untilCount(3)
  const ordersOf = (messages: readonly { orderId: string }[]) => messages.map(({ orderId }) => orderId)
  expect(ordersOf(standing(on.events.events()))).toEqual(ordersOf(await expectedMessages(on.chain, on.from)))
})

it('events are read beyond a number without a block', async () => {
  await on.start()
  await on.untilRead()
  const { number } = await on.traffic.head()
  const nameOf = (block: number) => `0x${block.toString(16)}`
  on.rpc.intercept(async ({ method, params = [] }, pass, ask) => {
    const reply = await pass()
    if (!method.startsWith('eth_getBlockBy') || !reply.result) return reply
    const block = reply.result as { readonly number: string }
    const before = () => ask('eth_getBlockByNumber', [nameOf(number), false])
    if (block.number === nameOf(number + 1)) return params[0] === 'latest' ? before() : { result: null }
    if (block.number !== nameOf(number + 2)) return reply
    return { result: { ...block, parentHash: ((await before()).result as { hash: string }).hash } }
  })
  await on.traffic.mine()
  await mineDeposits(2)
  await on.events.untilCount(2)
  expect((await on.chainHealth()).status).toBe('ok')
})

it('/health names a block that cannot be read, the member and the endpoint', async () => {
  let passedMs = 0
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + passedMs }
  await on.start({}, { clock })
  await on.untilRead()
  lie(on.rpc, { logs: (logs) => logs.map((log) => ({ ...log, data: '0x1' })), receipts: false })
  const { number } = await mineDeposits(1)
  await eventually(on.failedLooks, (count) => count > 0)
  passedMs = 60_000
  const { unread } = await eventually(on.chainHealth, (chain) => chain.unread !== undefined)
  expect(unread).toEqual({
    block: number,
    member: 'logs[0].data',
    endpoint: new URL(on.rpc.url).host,
    reason: 'a log has no valid data',
  })
})
