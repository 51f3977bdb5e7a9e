import { describe, expect, it } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, withoutCursors } from '../../support/streams/event-messages.js'
import { openAll } from '../../support/streams/transports.js'

/** After any time that the chain has. */
const NEVER = 4_294_967_295

const chains = await Promise.all([
  shared(startModelChain({ bonded: 0 })),
  shared(startModelChain({ chainId: 31338, bonded: 0 })),
])
const traffics = await Promise.all([
  createTraffic(chains[0], { seed: 11 }),
  createTraffic(chains[1], { seed: 12 }),
])
const service = await shared(startService(chains))
const clients = await Promise.all((await openAll(service.url)).map(shared))

/** The messages of each transport from now on, while something happens. */
async function messagesDuring(count: number, happen: () => Promise<unknown>) {
  const before = clients.map((client) => client.events().length)
  await happen()
  return Promise.all(
    clients.map(async (client, index) => {
      const start = before[index] ?? 0
      return (await client.take(start + count)).slice(start)
    }),
  )
}

it('a stream begins on every transport with `connected`, the chains and a cursor', () => {
  for (const { messages } of clients) {
    expect(messages[0]).toStrictEqual({
      type: 'connected',
      supportedChains: [31337, 31338],
      cursor: expect.stringMatching(/./),
    })
  }
})

describe('a block with an event of every kind', () => {
  it('is sent on every transport field by field, in the order of the block', async () => {
    const [chain] = chains
    const [{ actions, head, mine }] = traffics
    const [solver] = solverAccounts
    const { timestamp } = await head()
    const order = (outputAmount: bigint, fillDeadline = NEVER) =>
      actions.order({ user: user.address, solver, inputAmount: 2n ** 100n, outputAmount, fillDeadline })
    const [filled, settled] = [order(3000n), order(50n)]
    const expired = order(100_000n, timestamp)
    const late = order(20_000n, timestamp - 5)
    await mine([actions.deposit(expired)])
    for (const client of clients) await client.take(1)

    let block = { number: 0, timestamp: 0 }
    const streams = await messagesDuring(5, async () => {
      const batch = [
        actions.deposit(filled),
        actions.refund(expired),
        actions.settle(settled),
        actions.fill(filled),
        actions.refundAddressDeposit(late),
      ]
      block = await mine(batch)
    })
    const position = { blockNumber: block.number, blockTime: block.timestamp }
    const base = ({ orderId }: { orderId: string }) => ({ chainId: 31337, orderId, ...position })
    const parties = { user: user.address, solver: solver.address }
    const refund = { user: user.address, inputAmount: '1267650600228229401496703205376' }
    for (const messages of streams) {
      const withoutLogs = withoutCursors(messages).map((message) => {
        const { transactionHash: _, logIndex: __, ...others } = message
        return others
      })
      expect(withoutLogs).toStrictEqual([
        {
          type: 'Deposited',
          ...base(filled),
          ...parties,
          inputToken: chain.contracts.weth,
          inputAmount: '1267650600228229401496703205376',
          outputToken: chain.contracts.usdc,
          outputAmount: '3000',
          fillDeadline: NEVER,
        },
        // The contract reserves 5% of the output.
        { type: 'Refunded', ...base(expired), ...refund, bondSlashed: '5000' },
        { type: 'Settled', ...base(settled), ...parties },
        { type: 'Settled', ...base(filled), ...parties },
        { type: 'Refunded', ...base(late), ...refund, bondSlashed: '1000' },
      ])
      expect(withoutCursors(messages)).toEqual(await expectedMessages(chain, block.number, block.number))
    }
  })
})

describe('two chains at once', () => {
  it('give their events in the order of each chain, the same on every transport', async () => {
    const ranges: { fromBlock: number; toBlock: number }[] = []
    const streams = await messagesDuring(120, async () => {
      const runs = traffics.map((traffic) => traffic.run({ events: 60, blocks: 12 }))
      ranges.push(...(await Promise.all(runs)))
    })
    const [first] = streams
    expect(new Set(first?.map(({ type }) => type))).toEqual(new Set(['Deposited', 'Settled', 'Refunded']))
    for (const [index, chain] of chains.entries()) {
      const { fromBlock, toBlock } = ranges[index] ?? { fromBlock: 0, toBlock: 0 }
      const ofChain = (first ?? []).filter(({ chainId }) => chainId === chain.chainId)
      expect(withoutCursors(ofChain)).toStrictEqual(await expectedMessages(chain, fromBlock, toBlock))
    }
    for (const messages of streams) expect(messages).toStrictEqual(first)
  })
})

it('a stream continues after a cursor with what its filters admit, on every transport', async () => {
  const [first] = clients
  const all = first?.events() ?? []
  const middle = all.slice(0, Math.floor(all.length / 2)).findLast((message) => 'solver' in message)
  const [solver, cursor] = [middle && 'solver' in middle ? middle.solver : '', middle?.cursor ?? '']
  const isWanted = (message: object) =>
    'solver' in message && message.solver === solver && 'type' in message && message.type !== 'Refunded'
  const expected = all.slice(all.findIndex((message) => message.cursor === cursor) + 1).filter(isWanted)
  expect(expected.length).toBeGreaterThan(1)
  const request = {
    after: cursor,
    solver: [solver.toLowerCase()],
    type: ['Deposited', 'Settled'],
    chainId: [31337, 31338],
  }
  for (const client of await openAll(service.url, request)) {
    expect(await client.take(expected.length)).toEqual(expected)
    client.leave()
  }
})
