import { type Hex, pad } from 'viem'
import { expect, it } from 'vitest'

import { addressOf, depositOf, startPolling, TOKEN, transferTo } from './poller-fixture.js'

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
