import { pad } from 'viem'
import { expect, it } from 'vitest'
import { addressOf, answered, type FoundLog, NEVER, POLL_MS, startPolling, TOKEN } from './poller-fixture.js'

it('a deposit at the contract is passed on with its fill deadline and its quoted input', async () => {
  const { deposits, errors, nextBlock } = startPolling([], undefined, { deposits: [9] })
  await nextBlock()
  expect([deposits[0], errors]).toEqual([[9, 7, 5n], []])
})

it('what another solver has is no deposit, whatever the filter', async () => {
  const toOther = (log: FoundLog) => ({ ...log, topics: log.topics.with(3, pad(TOKEN)) })
  const { deposits, errors, nextBlock } = startPolling([], (_request, found) => found().map(toOther), {
    deposits: [9],
  })
  await nextBlock()
  expect([deposits, errors]).toEqual([[], []])
})

it('transfers are asked for by their receivers, however many quotes are open', async () => {
  const addresses = Array.from({ length: 201 }, (_, index) => addressOf(index + 1))
  const transfersTo = addresses.slice(200)
  const { requests, transfers, nextBlock } = startPolling(addresses, undefined, { transfersTo })
  await nextBlock()
  const groups = requests.flatMap(({ receivers }) => (receivers === undefined ? [] : [receivers]))
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

it.each<[string, () => unknown]>([
  ['an error', () => answered(-32602, 'eth_getLogs is limited to 10 blocks')],
  [
    "an error of the market maker's own transport",
    () => Object.assign(new Error('block range too large'), { code: -32602 }),
  ],
])(
  'a node that allows ten blocks, and says so by %s, is read to its head after a stop of 700 blocks',
  async (_how, refusal) => {
    const read = new Set<number>()
    const { answers, nextBlock } = startPolling(
      [],
      ({ from, to }, found) => {
        if (to - from >= 10) throw refusal()
        for (let block = from; block <= to; block++) read.add(block)
        return found()
      },
      { position: 1_000, first: 1_700 },
    )
    for (let block = 0; block < 4; block++) await nextBlock()
    expect(answers()).toBeGreaterThan(1)
    const missing = Array.from({ length: 761 }, (_, index) => 940 + index).filter((block) => !read.has(block))
    expect(missing).toEqual([])
  },
)

it('a deposit that the node leaves out once is found', async () => {
  let isLate = true
  const receiver = addressOf(1)
  const { transfers, nextBlock } = startPolling([receiver], (_, found) => (isLate ? [] : found()), {
    transfersTo: [receiver],
  })
  await nextBlock()
  expect(transfers).toEqual([])
  isLate = false
  await nextBlock()
  expect(transfers).toEqual([receiver])
})

it.each(['transfers', 'deposits'])(
  'a node that refuses the filter of %s shows the rest, and the unread range is read later',
  async (refused) => {
    let isRefusing = true
    const receiver = addressOf(1)
    const { deposits, transfers, positions, answers, requests, nextBlock } = startPolling(
      [receiver],
      ({ receivers }, found) => {
        if (isRefusing && (receivers === undefined) === (refused === 'deposits'))
          throw answered(-32602, 'invalid params: no lists')
        return found()
      },
      { transfersTo: [receiver], deposits: [9] },
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
  const refuseMany = ({ receivers = [] }: { receivers?: readonly unknown[] }, found: () => unknown) => {
    if (receivers.length === 100) throw answered(-32000, 'too many addresses')
    return found()
  }
  const { transfers, nextBlock } = startPolling(addresses, refuseMany, { transfersTo: addresses })
  await nextBlock(10 * POLL_MS)
  expect(transfers).toContain(addresses[200])
})

it('a node that lags far behind for one look makes it read no old blocks', async () => {
  const { positions, nextBlock, goBack } = startPolling([], undefined, { first: 10_000 })
  await nextBlock()
  const back = goBack(5)
  await nextBlock()
  back()
  await nextBlock()
  expect(Number(positions.get('chain 1'))).toBeGreaterThan(10_000)
})
