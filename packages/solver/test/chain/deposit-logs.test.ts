import { type Hex, pad } from 'viem'
import { expect, it } from 'vitest'

import { addressOf, type FoundLog, startPolling, TOKEN } from './poller-fixture.js'

const capitals = (text: Hex): Hex => `0x${text.slice(2).toUpperCase()}`

it.each<[string, (logs: readonly FoundLog[]) => unknown]>([
  ['of the usual shape', (logs) => logs],
  ['that are `null` when there are none', (logs) => (logs.length === 0 ? null : logs)],
  [
    'in capitals',
    (logs) =>
      logs.map((log) => ({
        ...log,
        address: capitals(log.address),
        topics: log.topics.map(capitals),
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
    (_request, found) => shape(found()),
    { transfersTo: [receiver], deposits: [9] },
  )
  await nextBlock()
  await nextBlock()
  expect([deposits[0], transfers[0], errors]).toEqual([[9, 7, 5n], receiver, []])
  expect(answers()).toBeGreaterThan(1)
})

it('what another contract or another solver has is no deposit, whatever the filter', async () => {
  const toOther = (log: FoundLog) => ({ ...log, topics: log.topics.with(3, pad(TOKEN)) })
  const { deposits, errors, nextBlock } = startPolling([], (_request, found) => found().map(toOther), {
    deposits: [9],
  })
  await nextBlock()
  expect([deposits, errors]).toEqual([[], []])
})
